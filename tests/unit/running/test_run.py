"""A run: its name, what is still to play, and what it refuses."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from run_events import Recorder

from agentquest.config import load_config
from agentquest.errors import ConfigError, UnknownName
from agentquest.lib import Agent, Answer, Observation
from agentquest.records.outcome import End
from agentquest.running.run import Run
from agentquest.running.spec import EpisodeSpec

OUT_OF_ORDER = asyncio.Event()


class Fickle(Agent):
    """Crashes while it is out of order; else it gives up at once."""

    async def act(self, observation: Observation) -> Answer:
        if OUT_OF_ORDER.is_set():
            raise RuntimeError("out of order")
        return Answer(None, give_up=True)


@pytest.fixture(autouse=True)
def _clean() -> None:
    OUT_OF_ORDER.clear()


def a_run(folder: Path, **settings: Any) -> Run:
    given = {"benchmark": "mastermind", "agent": f"{__name__}:Fickle", "num_games": 4}
    config, _ = load_config(None, settings={**given, "output_dir": str(folder), **settings})
    return Run(config)


def play(run: Run, specs: list[EpisodeSpec] | None = None) -> Recorder:
    heard = Recorder()
    specs = run.prepare() if specs is None else specs
    asyncio.run(run.play(specs, heard, asyncio.Event(), lambda running: None))
    return heard


def test_the_name_follows_from_what_decides_a_score_and_nothing_else(tmp_path: Path) -> None:
    name = a_run(tmp_path).run_id
    assert a_run(tmp_path, parallel=3, note="later").run_id == name
    assert a_run(tmp_path / "elsewhere").run_id == name
    others = [{"seed": 7}, {"max_steps": 5}, {"trials": 2}, {"num_games": 5}]
    assert len({a_run(tmp_path, **other).run_id for other in others} | {name}) == 5


def test_every_task_is_played_in_every_trial_with_a_seed_of_its_own(tmp_path: Path) -> None:
    specs = a_run(tmp_path, trials=3).specs
    assert len({spec.key for spec in specs}) == len({spec.seed for spec in specs}) == 12
    assert [spec.trial for spec in specs] == [0] * 4 + [1] * 4 + [2] * 4


def test_what_has_a_score_is_not_played_again(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    first, *rest = run.prepare()
    play(run, [first])
    again = a_run(tmp_path)
    assert again.prepare() == rest
    heard = play(again, again.specs)
    played = [spec for name, spec, *_ in heard.heard if name == "finished"]
    assert played == rest, "also if it is asked for"
    assert a_run(tmp_path).prepare() == []


def test_what_has_no_score_is_played_again(tmp_path: Path) -> None:
    OUT_OF_ORDER.set()
    run = a_run(tmp_path)
    play(run)
    assert {record.end for record in run.records} == {End.AGENT_FAULT}
    OUT_OF_ORDER.clear()
    again = a_run(tmp_path)
    assert len(again.prepare()) == 4
    play(again)
    assert a_run(tmp_path).prepare() == []


def test_a_name_that_is_taken_by_another_configuration_is_refused(tmp_path: Path) -> None:
    a_run(tmp_path, run_name="mine").prepare()
    other = a_run(tmp_path, run_name="mine", max_steps=7)
    for refuse in (other.prepare, other.check_directory):
        with pytest.raises(ConfigError, match="different configuration") as refused:
            refuse()
        assert "max_steps" in str(refused.value)


def test_tags_and_note_may_change(tmp_path: Path) -> None:
    a_run(tmp_path, run_name="mine").prepare()
    run = a_run(tmp_path, run_name="mine", tags=["second"], note="once more")
    run.prepare()
    assert (run.stored.manifest.tags, run.stored.manifest.note) == (["second"], "once more")


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"sinks": ["nowhere:Sink"]}, UnknownName),
        ({"executor": "processes", "executor.worker": 3}, ConfigError),
        ({"metrics": ["nowhere:METRIC"]}, UnknownName),
    ],
)
def test_mistakes_leave_no_folder_behind(
    tmp_path: Path, wrong: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        a_run(tmp_path, **wrong).prepare()
    assert list(tmp_path.iterdir()) == []


def test_records_are_in_the_order_of_the_specs_whichever_finished_first(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    specs = run.prepare()
    play(run, specs[::-1])
    assert [record.key for record in run.records] == [spec.key for spec in specs]
