"""The tasks a server remembers: limited in number and time, each for the client that asked for it.

Who asks is known by its token or, where none is asked for, by its connection.
Without a token a task can still be read and cancelled over another connection,
but only by its id, which cannot be guessed; lists are of one's own tasks alone.
"""

import hashlib
import time
from collections import OrderedDict
from dataclasses import dataclass

from a2a.auth.user import User
from a2a.server.context import ServerCallContext
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.server.tasks import InMemoryTaskStore, TaskStore
from a2a.types import ListTasksRequest, ListTasksResponse, Task, TaskState
from starlette.requests import Request

MAX_TASKS = 1000
KEPT_S = 3600.0
# News of an assessment are messages of its task: the newest are enough.
MAX_HISTORY = 50
_UNNAMED = "connection "
_OVER = (
    TaskState.TASK_STATE_COMPLETED,
    TaskState.TASK_STATE_CANCELED,
    TaskState.TASK_STATE_FAILED,
    TaskState.TASK_STATE_REJECTED,
)


class Asker(User):
    """Whoever sent a request."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def is_authenticated(self) -> bool:
        return not self._name.startswith(_UNNAMED)

    @property
    def user_name(self) -> str:
        return self._name


class AskerContexts(DefaultServerCallContextBuilder):
    """Knows askers by their Authorization header, else by their connection."""

    def build_user(self, request: Request) -> User:
        given = request.headers.get("authorization")
        if given:
            return Asker(hashlib.sha256(given.encode()).hexdigest())
        host, port = request.client or ("", 0)
        return Asker(f"{_UNNAMED}{host} {port}")


@dataclass
class _Kept:
    owner: Asker
    saved_at: float
    over: bool


class OwnedTaskStore(TaskStore):
    """Keeps tasks in memory. Over `max_tasks`, or `kept_s` after its end, a task is forgotten.

    When there are too many, the oldest that is over goes first. A task that the
    asker may not see is answered as if there were none.
    """

    def __init__(self, max_tasks: int = MAX_TASKS, kept_s: float = KEPT_S) -> None:
        self._tasks = InMemoryTaskStore()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._max_tasks = max_tasks
        self._kept_s = kept_s

    def __len__(self) -> int:
        return len(self._kept)

    async def save(self, task: Task, context: ServerCallContext) -> None:
        # The task in hand is shortened with the one that is kept, or it would grow for ever.
        del task.history[: len(task.history) - MAX_HISTORY]
        known = self._kept.pop(task.id, None)
        owner = known.owner if known else _asker(context)
        self._kept[task.id] = _Kept(owner, time.monotonic(), task.status.state in _OVER)
        await self._tasks.save(task, _of(owner))
        await self._forget()

    async def get(self, task_id: str, context: ServerCallContext) -> Task | None:
        known = self._kept.get(task_id)
        if known is None or not _may_see(_asker(context), known.owner):
            return None
        found: Task | None = await self._tasks.get(task_id, _of(known.owner))
        return found

    async def list(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        return await self._tasks.list(params, _of(_asker(context)))

    async def delete(self, task_id: str, context: ServerCallContext) -> None:
        known = self._kept.get(task_id)
        if known is not None and _may_see(_asker(context), known.owner):
            await self._drop(task_id)

    async def _forget(self) -> None:
        """Drop tasks that ended long ago, and the oldest if there are too many."""
        limit = time.monotonic() - self._kept_s
        old = [key for key, kept in self._kept.items() if kept.over and kept.saved_at < limit]
        for task_id in old:
            await self._drop(task_id)
        while len(self._kept) > self._max_tasks:
            over = (key for key, kept in self._kept.items() if kept.over)
            await self._drop(next(over, None) or next(iter(self._kept)))

    async def _drop(self, task_id: str) -> None:
        kept = self._kept.pop(task_id)
        await self._tasks.delete(task_id, _of(kept.owner))


def _asker(context: ServerCallContext) -> Asker:
    return Asker(context.user.user_name)


def _of(owner: Asker) -> ServerCallContext:
    return ServerCallContext(user=owner)


def _may_see(asker: Asker, owner: Asker) -> bool:
    if owner.is_authenticated:
        return asker.user_name == owner.user_name
    return not asker.is_authenticated or asker.user_name == owner.user_name
