"""`agentquest.evaluate`, `play` and `load_run`, as a script or a notebook calls them."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agentquest
from agentquest.errors import ConfigError, UserError
from agentquest.lib import Agent, Answer, Explorer, Observation, Settings
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from agentquest.running.events import RunEvents
from agentquest.running.spec import EpisodeSpec


class WordySettings(Settings):
    word: str = "so"
    """What every reply begins with."""


class Wordy(Agent):
    Settings = WordySettings

    def __init__(self, settings: WordySettings, explorer: Explorer) -> None:
        self._word = settings.word
        self._explorer = explorer

    async def act(self, observation: Observation) -> Answer:
        action = self._explorer.next_action(observation.text)
        return Answer(action, reply=f"{self._word} {action}")


def evaluate(folder: Path, **settings: Any) -> agentquest.RunResult:
    given = {"data_path": "builtin", "num_games": 6, "output_dir": folder, **settings}
    return agentquest.evaluate(**given)


def test_importing_the_package_imports_nothing_else() -> None:
    code = (
        "import sys, agentquest\n"
        "ours = [name for name in sys.modules if name.startswith('agentquest.')]\n"
        "assert ours == ['agentquest.version'], ours\n"
        "assert {'evaluate', 'play', 'load_run', 'RunResult'} <= set(dir(agentquest))\n"
        "assert agentquest.play.__module__ == 'agentquest.api'\n"
        "try:\n    agentquest.evluate\nexcept AttributeError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "has no attribute 'evluate'" in done.stdout


def test_a_run_comes_back_with_records_summary_and_rows(tmp_path: Path) -> None:
    result = evaluate(tmp_path, agent="oracle")
    assert result.complete
    assert (result.reason, result.pending) == (None, 0)
    with pytest.warns(DeprecationWarning, match="is now called pending"):
        assert result.owed == 0
    assert result.path.parent == tmp_path
    assert result.summary["total_games"] == result.summary["successes"] == 6
    assert [record.task_id for record in result.records] == result.manifest.task_ids
    rows = result.to_rows()
    assert [row["task_id"] for row in rows] == result.manifest.task_ids
    assert json.loads(json.dumps(rows)) == rows, "plain data"
    for row, record in zip(rows, result.records, strict=True):
        assert (row["success"], row["end"], row["steps"]) == (True, "solved", len(record.steps))
        assert (row["model"], row["cost"], row["prompt_tokens"]) == (None, None, None)
        assert row["repetition"] == record.repetition_rate
    assert "6 of 6 episodes solved" in repr(result)
    written = json.loads((result.path / "results.json").read_text("utf-8"))
    assert written["summary"] == json.loads(json.dumps(result.summary))


def test_a_run_is_loaded_as_it_was_played(tmp_path: Path) -> None:
    result = evaluate(tmp_path, agent="random", max_steps=5, trials=2)
    loaded = agentquest.load_run(str(result.path))
    assert loaded.manifest == result.manifest
    assert loaded.summary == result.summary
    assert loaded.to_rows() == result.to_rows()
    assert loaded.records == result.records
    assert [record.trial for record in loaded.records] == [0] * 6 + [1] * 6
    with pytest.raises(UserError, match="is not a run directory"):
        agentquest.load_run(tmp_path)


def test_the_same_settings_resume_and_play_only_what_is_owed(tmp_path: Path) -> None:
    played = Counted()
    first = evaluate(tmp_path, agent="oracle", watcher=played)
    assert played.finished_keys == {record.key for record in first.records}
    file = first.path / "episodes.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:4]))
    rest = Counted()
    second = evaluate(tmp_path, agent="oracle", watcher=rest)
    assert len(rest.finished_keys) == 2
    assert (second.path, second.complete) == (first.path, True)
    nothing = Counted()
    evaluate(tmp_path, agent="oracle", watcher=nothing)
    assert nothing.finished_keys == set()
    anew = Counted()
    third = evaluate(tmp_path, agent="oracle", watcher=anew, resume=False)
    assert len(anew.finished_keys) == 6
    assert third.path.name == f"{first.path.name}-2"


class Counted(RunEvents):
    def __init__(self) -> None:
        self.finished_keys: set[str] = set()

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        self.finished_keys.add(spec.key)


@pytest.mark.parametrize(
    "agent",
    [Wordy, f"{__name__}:Wordy", {"name": Wordy, "word": "so"}, {"name": f"{__name__}:Wordy"}],
    ids=["class", "path", "section with a class", "section"],
)
def test_an_agent_is_a_class_or_what_names_it(tmp_path: Path, agent: Any) -> None:
    result = evaluate(tmp_path, agent=agent, num_games=2)
    assert result.manifest.agent == f"{__name__}:Wordy"
    assert all(record.success for record in result.records)
    assert result.records[0].steps[0].reply.startswith("so ")


def test_settings_stand_nested_or_flat_and_override_the_file(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(
        "num_games: 6\nmax_steps: 3\ndata_path: builtin\nagent:\n  name: react\n"
        "  history_length: 7\nllm:\n  model: scripted\n  temperature: 0.5\n"
    )
    result = agentquest.evaluate(
        file,
        num_games=1,
        agent={"num_examples": 1},
        llm={"max_tokens": 99},
        temperature=0.25,
        split="valid_seen",
        output_dir=tmp_path,
    )
    config = result.manifest.config
    assert (config["num_games"], config["max_steps"]) == (1, 3)
    assert (config["agent"]["name"], config["agent"]["history_length"]) == ("react", 7)
    assert config["agent"]["num_examples"] == 1
    assert (config["llm"]["temperature"], config["llm"]["max_tokens"]) == (0.25, 99)
    assert result.manifest.provenance.split == "valid_seen"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"num_gmes": 3}, "num_gmes: unknown key; did you mean 'num_games'"),
        ({"agent": {"name": "react", "histry_length": 3}}, "did you mean 'history_length'"),
        ({"agent": "orcle"}, "'orcle' is not an agent; did you mean 'oracle'"),
        ({"agent": int}, "is int, not a subclass of agentquest.lib.Agent"),
        ({"benchmark": "chess"}, "'chess' is not a benchmark"),
        ({"max_steps": 0}, "max_steps"),
    ],
)
def test_a_mistake_names_itself(tmp_path: Path, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        evaluate(tmp_path, **settings)
    assert list(tmp_path.iterdir()) == []


def test_a_class_that_nothing_can_find_again_is_refused(tmp_path: Path) -> None:
    class Local(Wordy):
        pass

    with pytest.raises(ConfigError, match="is defined inside a function"):
        evaluate(tmp_path, agent=Local)


def test_play_gives_one_record_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    record = agentquest.play("alfworld", agent="oracle", data_path="builtin")
    assert (record.end, record.success) == (End.SOLVED, True)
    same = agentquest.play("alfworld", agent="oracle", data_path="builtin", task=record.task_id)
    assert same.actions == record.actions
    shop = agentquest.play("webshop", agent="random", data_path="builtin", max_steps=2)
    assert shop.benchmark == "webshop"
    assert list(tmp_path.iterdir()) == []


async def test_it_works_where_a_loop_is_running_already(tmp_path: Path) -> None:
    """As in a notebook cell: called from within a running event loop."""
    asyncio.get_running_loop()
    result = evaluate(tmp_path, agent=Wordy, num_games=2)
    assert result.complete
    assert agentquest.play("alfworld", agent=Wordy, data_path="builtin").success


NOTEBOOK = """
import asyncio
import agentquest
from agentquest.lib import Agent, Answer

class Looks(Agent):
    async def act(self, observation):
        return Answer("look")

async def cell():
    result = agentquest.evaluate(
        agent=Looks, num_games=2, max_steps=3, data_path="builtin", **{more}
    )
    print(result.manifest.agent, result.complete, [r["steps"] for r in result.to_rows()])

if __name__ == "__main__":
    asyncio.run(cell())
"""


@pytest.mark.parametrize("more", ["{}", "{'executor': {'name': 'processes', 'workers': 2}}"])
def test_a_class_of_the_main_module_can_be_evaluated(tmp_path: Path, more: str) -> None:
    (tmp_path / "notebook.py").write_text(NOTEBOOK.replace("{more}", more))
    done = subprocess.run(
        [sys.executable, "-W", "error", "notebook.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "__main__:Looks True [3, 3]\n"


class Interrupts(RunEvents):
    """Presses Ctrl-C, as it were, when the second episode is done."""

    def __init__(self) -> None:
        self.count = 0

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        self.count += 1
        if self.count == 2:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


@pytest.fixture
def _own_signals() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_own_signals")
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        evaluate(tmp_path, agent="scripted", num_games=None, parallel=1, watcher=Interrupts())
    (run,) = tmp_path.iterdir()
    kept = agentquest.load_run(run)
    assert not kept.complete
    assert 2 <= kept.summary["total_games"] < 134
    assert (run / "results.json").is_file()
