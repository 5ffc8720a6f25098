"""The explorer without its table and with slips: a baseline between random and good."""

from itertools import zip_longest

import pytest

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.explorer.player import AlfWorldExplorer
from agentquest.benchmarks.alfworld.tasks import find_tasks, open_problem
from agentquest.errors import ConfigError

SLIPS = ("I wander off", "I leave the ", "I take the ", "I have lost track")
TASKS = find_tasks("valid_unseen", data_path="builtin")


def played(player: AlfWorldExplorer, problem: str) -> tuple[bool, list[str]]:
    game = AlfWorldEngine.from_text(open_problem(problem))
    text = game.reset()
    commands: list[str] = []
    while not game.won and len(commands) < 50:
        commands.append(player.next_action(text))
        text = game.step(commands[-1])
    return game.won, commands


def wins(**options: float) -> int:
    return sum(played(AlfWorldExplorer(**options), task.problem)[0] for task in TASKS)  # type: ignore[arg-type]


def test_the_more_slips_the_fewer_wins() -> None:
    some, most = wins(table=False, slips=0.7), wins(table=False, slips=0.9)
    assert wins(table=False) > 0.95 * len(TASKS)
    assert 0.35 * len(TASKS) < some < 0.65 * len(TASKS)
    assert most < 0.1 * len(TASKS)


def test_without_the_table_things_are_found_later() -> None:
    def steps(player: AlfWorldExplorer) -> int:
        return sum(len(played(player, task.problem)[1]) for task in TASKS)

    assert steps(AlfWorldExplorer(table=False)) > 1.2 * steps(AlfWorldExplorer())


def test_about_as_many_slips_as_are_stated() -> None:
    steps = slips = 0
    for task in TASKS[:40]:
        player = AlfWorldExplorer(slips=0.2, seed=5)
        game = AlfWorldEngine.from_text(open_problem(task.problem))
        text = game.reset()
        for _ in range(50):
            command = player.next_action(text)
            steps += 1
            slips += player.thought.startswith(SLIPS)
            text = game.step(command)
    assert steps == 2000
    assert 0.16 < slips / steps < 0.24


def test_slips_are_fixed_by_the_seed() -> None:
    options = {"slips": 0.3, "table": False}
    used = AlfWorldExplorer(**options, seed=1)  # type: ignore[arg-type]
    differences = 0
    for task in TASKS[:20]:
        first = played(AlfWorldExplorer(**options, seed=1), task.problem)  # type: ignore[arg-type]
        other = played(AlfWorldExplorer(**options, seed=2), task.problem)  # type: ignore[arg-type]
        assert played(used, task.problem) == first
        differences += any(a != b for a, b in zip_longest(first[1], other[1]))
    assert differences > 10


def test_without_slips_nothing_is_left_to_chance() -> None:
    for task in TASKS[:20]:
        assert played(AlfWorldExplorer(), task.problem) == played(
            AlfWorldExplorer(table=True, slips=0.0, seed=9), task.problem
        )


@pytest.mark.parametrize("slips", [-0.1, 1.5, float("nan")])
def test_a_share_is_between_nothing_and_everything(slips: float) -> None:
    with pytest.raises(ConfigError, match="between 0 and 1"):
        AlfWorldExplorer(slips=slips)
