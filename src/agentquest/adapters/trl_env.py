"""Environments for TRL's `GRPOTrainer(environment_factory=…)`, in the trainer's process.

    from agentquest.adapters.trl_env import dataset_rows, environment_factory

    rows = dataset_rows("alfworld", split="train")
    trainer = GRPOTrainer(
        model=…, args=…, train_dataset=datasets.Dataset.from_list(rows),
        environment_factory=environment_factory("alfworld"),
    )

TRL makes tools of a class's public methods, from their type hints and docstrings.
So the class is made from the tools that the benchmark itself declares.
"""

import inspect
import json
from collections.abc import Callable
from typing import Any, ClassVar

from agentquest.adapters.arenas import TextPlayer, briefing_of, shared_arena
from agentquest.errors import ParseError, UserError
from agentquest.lib import Arena
from agentquest.lib.commands import command_of
from agentquest.records.messages import ToolCall, ToolSpec

OVER = "The episode is over."
_KINDS = {"string": str, "integer": int}


class TextEnvironment:
    """What all have in common; TRL calls `reset` with a row and `get_reward` at the end."""

    _arena: ClassVar[Arena]
    _tools: ClassVar[tuple[ToolSpec, ...]]
    _max_steps: ClassVar[int | None]
    _show_admissible: ClassVar[bool]

    def __init__(self) -> None:
        self._player = TextPlayer(self._arena, self._max_steps, self._show_admissible)

    def reset(self, task_id: str | None = None, **row: Any) -> str:
        """Start the row's task; what is returned is shown to the model."""
        if task_id is None:
            raise UserError("rows need a task_id: all rollouts of a group play one task")
        return self._player.begin(task_id)

    def get_reward(self) -> float:
        """The reward of the episode as far as it went."""
        return self._player.session.last.reward

    def _use(self, name: str, arguments: dict[str, Any]) -> str:
        """A tool call; what cannot be read costs a step, too."""
        call = ToolCall(id="", name=name, arguments=json.dumps(arguments))
        session = self._player.session
        try:
            turn = session.step(command_of(call, self._tools))
        except ParseError as error:
            turn = session.miss(f"{error} Nothing was done.")
        text = self._player.describe(turn)
        return f"{text}\n\n{OVER}" if turn.over else text


def environment_factory(
    benchmark: str,
    *,
    tools: str = "one",
    max_steps: int | None = 50,
    show_admissible: bool = False,
    **settings: Any,
) -> type[TextEnvironment]:
    """A class with one method per tool. `tools` is `one`, or `typed` where a benchmark has both."""
    arena = shared_arena(benchmark, settings)
    chosen = briefing_of(arena).choose_tools(tools)
    members: dict[str, Any] = {tool.name: _method(tool) for tool in chosen}
    members |= {"_arena": arena, "_tools": chosen, "_max_steps": max_steps}
    members |= {"_show_admissible": show_admissible, "__doc__": f"{arena.benchmark.title} for TRL."}
    name = f"{arena.benchmark.title.replace(' ', '')}Environment"
    made: type[TextEnvironment] = type(name, (TextEnvironment,), members)
    return made


def dataset_rows(benchmark: str, split: str | None = None, **settings: Any) -> list[dict[str, Any]]:
    """A row per task: the benchmark's instructions as prompt, and the task's id."""
    arena = shared_arena(benchmark, settings)
    prompt = [
        {"role": "system", "content": briefing_of(arena).instructions},
        {"role": "user", "content": ""},
    ]
    return [{"prompt": prompt, "task_id": task.id} for task in arena.tasks(split)]


def _method(tool: ToolSpec) -> Callable[..., str]:
    """A method with the name, type hints and docstring that TRL reads."""
    properties: dict[str, Any] = tool.parameters.get("properties", {})
    kinds = {name: _KINDS[str(schema["type"])] for name, schema in properties.items()}

    def use(self: TextEnvironment, *given: Any, **named: Any) -> str:
        return self._use(tool.name, {**dict(zip(kinds, given, strict=False)), **named})

    described = "".join(
        f"    {name}: {schema.get('description', name)}\n" for name, schema in properties.items()
    )
    use.__name__ = use.__qualname__ = tool.name
    use.__doc__ = f"{tool.description}\n\nArgs:\n{described}\nReturns:\n    What is seen then.\n"
    use.__annotations__ = {**kinds, "return": str}
    keep = inspect.Parameter.POSITIONAL_OR_KEYWORD
    use.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("self", keep),
            *(inspect.Parameter(name, keep, annotation=kind) for name, kind in kinds.items()),
        ],
        return_annotation=str,
    )
    return use
