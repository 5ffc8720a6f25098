"""Mastermind and Sudoku in everything that plays: evaluator, all agents, processes, reports."""

from pathlib import Path

import pytest

import agentquest
from agentquest.records.outcome import End

GAMES = ("mastermind", "sudoku")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("agent", ["oracle", "scripted", "react", "tools"])
def test_they_are_solved(game: str, agent: str, tmp_path: Path) -> None:
    result = agentquest.evaluate(benchmark=game, agent=agent, num_games=5, output_dir=tmp_path)
    assert [record.end for record in result.records] == [End.SOLVED] * 5
    assert all(record.invalid_actions == 0 for record in result.records)
    assert {record.progress for record in result.records} == {1.0}


@pytest.mark.parametrize("game", GAMES)
def test_a_random_agent_plays_by_the_rules_and_loses(game: str, tmp_path: Path) -> None:
    result = agentquest.evaluate(benchmark=game, agent="random", num_games=5, output_dir=tmp_path)
    assert {record.end for record in result.records} == {End.STEP_LIMIT}
    steps = [step for record in result.records for step in record.steps]
    assert all("Could not read" not in step.observation for step in steps)
    assert any(step.valid for step in steps)
    assert all(0 < max(step.progress for step in record.steps) < 1 for record in result.records)


def test_the_step_limit_is_the_benchmarks_unless_it_is_set(tmp_path: Path) -> None:
    for settings, limit in (({}, 100), ({"max_steps": 7}, 7)):
        result = agentquest.evaluate(
            benchmark="sudoku", agent="random", num_games=1, output_dir=tmp_path, **settings
        )
        assert result.manifest.max_steps == limit
        assert len(result.records[0].steps) == limit


def test_they_are_played_in_other_processes_too(tmp_path: Path) -> None:
    here, there = (
        agentquest.evaluate(
            benchmark="mastermind",
            agent="scripted",
            num_games=5,
            output_dir=tmp_path,
            run_name=name,
            executor={"name": name, **more},
        )
        for name, more in (("local", {}), ("processes", {"workers": 2}))
    )
    assert [r.actions for r in here.records] == [r.actions for r in there.records]


def test_reports_say_what_was_played(tmp_path: Path) -> None:
    result = agentquest.evaluate(
        benchmark="sudoku", agent="scripted", num_games=3, output_dir=tmp_path
    )
    assert result.manifest.benchmark_title == "Sudoku"
    assert result.manifest.provenance.data == "generated"
    assert {row["task_type"] for row in result.to_rows()} == {"easy", "medium", "hard"}
    assert result.records[0].details["given"] == 40
