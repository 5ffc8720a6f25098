"""OpenEnv's Task API: which splits and tasks there are."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from agentquest.adapters.json_requests import AsciiJson
from agentquest.adapters.openenv_schemas import split_type
from agentquest.errors import UserError
from agentquest.lib import Arena, Task

MOST_TASKS = 20_000


class _Refused(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class TaskApi:
    """The routes under the environment's name."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def environments(self, request: Request) -> Response:
        """The one environment that is served."""
        return AsciiJson([self._arena.benchmark.name])

    async def splits(self, request: Request) -> Response:
        """The splits of the environment."""
        return await self._answer(request, self._splits)

    async def tasks(self, request: Request) -> Response:
        """All tasks of a split; refused where they are too many for one answer."""
        return await self._answer(request, self._tasks)

    async def num_tasks(self, request: Request) -> Response:
        """How many tasks a split has."""
        return await self._answer(request, self._num_tasks)

    async def task(self, request: Request) -> Response:
        """One task of a split, by its index."""
        return await self._answer(request, self._task)

    async def task_range(self, request: Request) -> Response:
        """The tasks of a split from `start` up to, but without, `stop`."""
        return await self._answer(request, self._task_range)

    def _splits(self, data: dict[str, Any]) -> Any:
        names = self._arena.benchmark.splits
        return [{"name": name, "type": split_type(name)} for name in names]

    def _tasks(self, data: dict[str, Any]) -> Any:
        split = _split(data)
        found = self._listed(split, 0, len(self._arena.tasks(split)))
        return {"tasks": found, "env_name": self._arena.benchmark.name}

    def _num_tasks(self, data: dict[str, Any]) -> Any:
        return {"num_tasks": len(self._arena.tasks(_split(data)))}

    def _task(self, data: dict[str, Any]) -> Any:
        split, index = _split(data), _number(data, "index")
        return {"task": _plain(self._arena.task(index, split), index)}

    def _task_range(self, data: dict[str, Any]) -> Any:
        split = _split(data)
        total = len(self._arena.tasks(split))
        start = _number(data, "start") if data.get("start") is not None else 0
        stop = _number(data, "stop") if data.get("stop") is not None else total
        if not 0 <= start <= stop:
            raise _Refused(400, f"{start} to {stop} is not a range of tasks")
        return {"tasks": self._listed(split, start, min(stop, total))}

    def _listed(self, split: str, start: int, stop: int) -> list[dict[str, Any]]:
        if stop - start > MOST_TASKS:
            raise _Refused(400, f"ask for at most {MOST_TASKS} tasks, with task_range")
        tasks = self._arena.tasks(split)
        return [_plain(tasks[index], index) for index in range(start, stop)]

    async def _answer(self, request: Request, work: Any) -> Response:
        name = self._arena.benchmark.name
        if request.path_params["env"] != name:
            return AsciiJson({"detail": f"unknown environment; this server has: {name}"}, 404)
        try:
            data = json.loads(await request.body() or b"{}")
            if not isinstance(data, dict):
                raise _Refused(400, "send a JSON object")
            return AsciiJson(work(data))
        except (ValueError, RecursionError):
            return AsciiJson({"detail": "this is not JSON"}, 400)
        except UserError as error:
            return AsciiJson({"detail": str(error)}, 400)
        except _Refused as refused:
            return AsciiJson({"detail": str(refused)}, refused.status)


def _plain(task: Task, index: int) -> dict[str, Any]:
    return {"id": task.id, "task_type": task.task_type, "split": task.split, "index": index}


def _split(data: dict[str, Any]) -> str:
    split = data.get("split")
    if not isinstance(split, str):
        raise _Refused(400, "name a split")
    return split


def _number(data: dict[str, Any], name: str) -> int:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _Refused(400, f"{name} must be a whole number")
    return value
