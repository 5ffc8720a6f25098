"""Inspect tasks of every benchmark, found through Inspect's entry point.

    inspect eval agentquest/alfworld -T split=valid_seen --model openai/… --limit 20

The game is in Inspect's process, one per sample. The score is the game's own:
`success` and `reward`. The step limit ends a sample as not solved; it is no error.

Inspect puts the name of the distribution before the names of tasks where that is the
package's; ours is another, so they are written out.
"""

from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from agentquest.adapters.arenas import TextPlayer, shared_arena, system_prompt
from agentquest.lib import Arena

_RESULT = "agentquest"


@task(name="agentquest/alfworld")
def alfworld(
    split: str | None = None,
    max_steps: int = 50,
    show_admissible: bool = False,
    data_path: str | None = None,
) -> Task:
    """Household games: walk, open, carry, clean, heat, cool, place."""
    return _task("alfworld", max_steps, show_admissible, split=split, data_path=data_path)


@task(name="agentquest/webshop")
def webshop(
    split: str | None = None,
    max_steps: int = 50,
    show_admissible: bool = False,
    data_path: str | None = None,
    goals: str | None = None,
) -> Task:
    """Buy what the instruction asks for in an online shop."""
    settings = {"split": split, "data_path": data_path, "goals": goals}
    return _task("webshop", max_steps, show_admissible, **settings)


@task(name="agentquest/game")
def game(
    benchmark: str,
    split: str | None = None,
    max_steps: int = 50,
    show_admissible: bool = False,
    settings: dict[str, Any] | None = None,
) -> Task:
    """Any benchmark by its name, with its own settings."""
    return _task(benchmark, max_steps, show_admissible, split=split, **(settings or {}))


def _task(benchmark: str, max_steps: int, show_admissible: bool, **settings: Any) -> Task:
    arena = shared_arena(benchmark, settings)
    provenance = arena.benchmark.provenance()
    return Task(
        dataset=MemoryDataset(
            _samples(arena, max_steps, show_admissible), name=f"{benchmark}/{arena.split}"
        ),
        solver=play(arena, max_steps, show_admissible),
        scorer=outcome(),
        name=f"agentquest/{benchmark}",
        metadata={"data": provenance.data, "split": arena.split, "max_steps": max_steps},
    )


def _samples(arena: Arena, max_steps: int, show_admissible: bool) -> list[Sample]:
    player = TextPlayer(arena, max_steps, show_admissible)
    return [
        Sample(
            id=each.id,
            input=player.begin(each),
            target="solved",
            metadata={"task_type": each.task_type, "split": each.split},
        )
        for each in arena.tasks()
    ]


@solver(name="agentquest/play")
def play(arena: Arena, max_steps: int, show_admissible: bool) -> Solver:
    """Asks the model until the game is over."""
    prompt = system_prompt(arena)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        player = TextPlayer(arena, max_steps, show_admissible)
        player.begin(str(state.sample_id))
        state.messages.insert(0, ChatMessageSystem(content=prompt))
        while not state.completed:
            state = await generate(state)
            told = player.answer(state.output.completion)
            turn = player.session.last
            state.store.set(
                _RESULT,
                {
                    "success": turn.won,
                    "reward": turn.reward,
                    "steps": turn.steps,
                    "truncated": turn.truncated,
                },
            )
            if turn.over:
                break
            state.messages.append(ChatMessageUser(content=told))
        return state

    return solve


@scorer(
    metrics={"success": [mean(), stderr()], "reward": [mean(), stderr()]},
    name="agentquest/outcome",
)
def outcome() -> Scorer:
    """The game's own verdict."""

    async def score(state: TaskState, target: Target) -> Score:
        result = state.store.get(_RESULT, None) or {"success": False, "reward": 0.0}
        value = {"success": int(result["success"]), "reward": float(result["reward"])}
        return Score(value=value, answer=state.output.completion[-200:], metadata=result)

    return score
