"""The ends of the scale: what rules, an oracle and chance reach through the evaluator."""

from pathlib import Path

import pytest
from evaluator_runs import evaluate

from agentquest.errors import ConfigError
from agentquest.records.episode import EpisodeRecord
from shared_data import ALFWORLD, needs_alfworld

GAMES = 134


def is_game_file(path: str) -> bool:
    return Path(path).name == "game.tw-pddl" and Path(path).is_file()


async def played(folder: Path, *overrides: str) -> list[EpisodeRecord]:
    evaluation, reason = await evaluate(
        folder, "split=valid_unseen", "max_steps=50", "save_prompts=false", *overrides
    )
    assert reason is None
    records = evaluation.directory.records()
    assert len(records) == GAMES
    assert all(record.scored for record in records)
    return records


def success_rate(records: list[EpisodeRecord]) -> float:
    return sum(record.success for record in records) / len(records)


async def test_the_scripted_model_solves_most_built_in_homes(tmp_path: Path) -> None:
    records = await played(tmp_path)
    assert success_rate(records) >= 0.8
    assert {record.model for record in records} == {"scripted"}
    # Through the very path a model takes: prompt, reply, parse.
    assert {step.how for record in records for step in record.steps} == {"exact"}
    assert all(step.calls for record in records for step in record.steps)


async def test_the_oracle_solves_all_and_chance_almost_none(tmp_path: Path) -> None:
    oracle = await played(tmp_path, "agent.name=oracle")
    assert success_rate(oracle) == 1.0
    assert all(len(record.steps) == len(record.milestones) for record in oracle)
    assert success_rate(await played(tmp_path, "agent.name=random")) < 0.05


async def test_between_them_are_rules_without_a_table_and_with_slips(tmp_path: Path) -> None:
    knowing = await played(tmp_path, "agent.name=scripted")
    searching = await played(tmp_path, "agent.name=scripted", "agent.table=false")
    assert success_rate(searching) > 0.95
    assert steps(searching) > 1.15 * steps(knowing)
    slipping = await played(
        tmp_path, "agent.name=scripted", "agent.table=false", "agent.slips=0.5", "seed=1"
    )
    assert 0.3 < success_rate(slipping) < 0.65
    read = [step.how for record in slipping for step in record.steps]
    assert abs(read.count("slip") / len(read) - 0.5) < 0.05
    assert set(read) == {"slip", "verbatim"}


def steps(records: list[EpisodeRecord]) -> int:
    return sum(len(record.steps) for record in records)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["agent.slips=1.5"], "agent.slips"),
        (["benchmark=webshop", "agent.table=false"], "rules use no table"),
    ],
)
async def test_what_the_rules_cannot_do_is_refused(
    tmp_path: Path, overrides: list[str], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        await evaluate(tmp_path, "agent.name=scripted", *overrides)


@needs_alfworld
@pytest.mark.parametrize(
    ("agent", "least"), [("react", 0.6), ("oracle", 1.0)], ids=["scripted", "oracle"]
)
async def test_the_real_unseen_games(tmp_path: Path, agent: str, least: float) -> None:
    records = await played(tmp_path, f"data_path={ALFWORLD}", f"agent.name={agent}")
    assert success_rate(records) >= least
    assert all(is_game_file(record.game_file) for record in records)
