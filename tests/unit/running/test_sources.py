"""The user's own code is part of a run: what belongs to it, and what happens when it changes."""

import linecache
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import agentquest
from agentquest.config import load_config
from agentquest.errors import ConfigError
from agentquest.records.manifest import find_changed
from agentquest.running.run import Run
from agentquest.running.sources import hash_metrics, hash_sources

AGENT = """
from agentquest.lib import Agent, Answer
from own_package import helper
from own_package.texts import WORD

class Mine(Agent):
    async def act(self, observation):
        from own_package.deep import late
        return Answer(action=WORD)
"""
METRIC = """
from agentquest.metrics.table import Metric
FACTOR = 1
STEPS = Metric("own_steps", "own steps", "", "", lambda record: FACTOR * len(record.steps))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with an agent that imports a package, and a metric; the current folder."""
    write = lambda name, text="": (tmp_path / name).write_text(text)  # noqa: E731
    for package in ("own_package", "own_package/deep"):
        (tmp_path / package).mkdir()
        write(f"{package}/__init__.py")
    write("own_agent.py", AGENT)
    write("own_package/helper.py", "from . import further\n")
    write("own_package/further.py")
    write("own_package/texts.py", "WORD = 'look'\n")
    write("own_package/deep/late.py")
    write("unrelated.py", "WORD = 'look'\n")
    write("own_metric.py", METRIC)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    forget_modules()


def forget_modules() -> None:
    """As a new process would import them."""
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


def a_run(**settings: Any) -> Run:
    forget_modules()
    given = {"data_path": "builtin", "agent": "own_agent:Mine", "num_games": 2, "max_steps": 3}
    config, _ = load_config(None, settings={**given, **settings})
    return Run(config)


def evaluate(**settings: Any) -> agentquest.RunResult:
    forget_modules()
    given = {"data_path": "builtin", "agent": "own_agent:Mine", "num_games": 2, "max_steps": 3}
    return agentquest.evaluate(**{**given, **settings})


def actions(result: agentquest.RunResult) -> set[str | None]:
    return {step.action for record in result.records for step in record.steps}


def test_what_a_module_imports_belongs_to_it(folder: Path) -> None:
    assert sorted(a_run().sources) == [
        "own_agent.py",
        "own_package/__init__.py",
        "own_package/deep/__init__.py",
        "own_package/deep/late.py",
        "own_package/further.py",
        "own_package/helper.py",
        "own_package/texts.py",
    ]


def test_built_in_parts_are_told_by_the_version(folder: Path) -> None:
    assert a_run(agent="react").sources == {}


def test_changed_code_is_refused_by_a_named_run_with_the_file(folder: Path) -> None:
    assert actions(evaluate(run_name="mine")) == {"look"}
    (folder / "own_package/texts.py").write_text("WORD = 'inventory'\n")
    with pytest.raises(ConfigError, match=r"^own_package/texts.py changed since mine began"):
        evaluate(run_name="mine")
    with pytest.raises(ConfigError, match=r"texts.py changed"):
        a_run(run_name="mine").check_directory()
    fresh = evaluate(run_name="mine", resume=False)
    assert (fresh.path.name, actions(fresh)) == ("mine-2", {"inventory"})


def test_an_agent_that_has_only_crashed_may_be_mended(folder: Path) -> None:
    (folder / "own_agent.py").write_text(AGENT.replace("action=WORD", "action=WORD + 1"))
    assert not any(row.scored for row in evaluate(run_name="mine").rows)
    (folder / "own_agent.py").write_text(AGENT)
    with pytest.raises(ConfigError, match=r"own_agent.py changed"):
        evaluate(run_name="mine", resume="refuse")
    mended = evaluate(run_name="mine")
    assert (mended.path.name, mended.complete, mended.manifest.changes) == ("mine", True, [])


def test_any_other_run_starts_anew_and_says_why(folder: Path) -> None:
    first = evaluate()
    assert evaluate().path == first.path
    (folder / "own_agent.py").write_text(AGENT + "\n# changed\n")
    with pytest.warns(UserWarning, match=rf"own_agent.py changed since {first.path.name}"):
        second = evaluate()
    assert second.path != first.path
    (folder / "own_package/helper.py").write_text("")
    with pytest.raises(ConfigError, match=r"own_package/helper.py changed"):
        evaluate(resume="refuse")
    with pytest.warns(UserWarning, match="helper.py changed"):
        assert evaluate(resume="warn").path == second.path


@pytest.mark.parametrize("policy", ["warn", "ignore"])
def test_a_run_of_two_codes_says_so(folder: Path, policy: str) -> None:
    run = a_run(run_name="mine", num_games=2)
    evaluate(run_name="mine", num_games=2)
    episodes = run.directory.path / "episodes.jsonl"
    episodes.write_bytes(episodes.read_bytes().splitlines(keepends=True)[0])
    (folder / "own_package/texts.py").write_text("WORD = 'inventory'\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = evaluate(run_name="mine", resume=policy)
    heard = [str(one.message) for one in caught if "texts.py changed" in str(one.message)]
    assert len(heard) == (policy == "warn")
    assert actions(result) == {"look", "inventory"}
    change = "own_package/texts.py changed after 1 episode had been played."
    assert change in result.report.warnings
    evaluate(run_name="mine")  # is not said again


def test_a_changed_metric_is_measured_again(folder: Path) -> None:
    metrics = ["own_metric:STEPS"]
    evaluate(agent="oracle", metrics=metrics, run_name="mine", max_steps=None)
    before = agentquest.load_run("runs/mine").summary["metrics"]["own_steps"]["value"]
    (folder / "own_metric.py").write_text(METRIC.replace("FACTOR = 1", "FACTOR = 10"))
    again = {"agent": "oracle", "metrics": metrics, "run_name": "mine", "max_steps": None}
    with pytest.raises(ConfigError, match=r"own_metric.py changed"):
        evaluate(**again, resume="refuse")
    with pytest.warns(UserWarning, match=r"own_metric.py changed: its metrics are measured again"):
        evaluate(**again)
    after = agentquest.load_run("runs/mine").summary["metrics"]["own_steps"]["value"]
    assert after == pytest.approx(10 * before)


def test_a_prompt_file_is_named_when_it_has_changed(folder: Path) -> None:
    prompt = folder / "mine.txt"
    prompt.write_text("[system]\nPlay. {instructions}\n[user]\n{observation}\n")
    chosen = {"agent": {"name": "react", "prompt_file": str(prompt)}, "run_name": "mine"}
    evaluate(**chosen)
    prompt.write_text("[system]\nPlay well. {instructions}\n[user]\n{observation}\n")
    with pytest.raises(ConfigError, match=r"^mine.txt changed since mine began"):
        evaluate(**chosen)
    with pytest.warns(UserWarning, match=r"mine.txt changed"):
        evaluate(**chosen, resume="warn")


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "program.py"],
        ["python", "-m", "program"],
        pytest.param(
            ["./program.py"],
            marks=pytest.mark.skipif(os.name == "nt", reason="no script runs by itself there"),
        ),
    ],
)
def test_a_program_is_known_by_its_files(folder: Path, command: list[str]) -> None:
    program = folder / "program.py"
    program.write_text("#!/usr/bin/env python\nimport own_metric\n")
    program.chmod(0o755)
    chosen = {"agent": {"name": "command", "command": command}}
    assert {"program.py", "own_metric.py"} <= a_run(**chosen).sources.keys()
    assert not any("python" in name for name in a_run(**chosen).sources)


NOTEBOOK = """
from agentquest.lib import Agent, Answer
import unrelated
GREETING = "hello"
EXAMPLES = ["one"]
COUNT = 0

def choose(text):
    return EXAMPLES[0] + text

class Base(Agent):
    def greet(self):
        return GREETING

class Mine(Base):
    words = ["look"]

    async def act(self, observation):
        global COUNT
        COUNT += 1
        return Answer(action=choose(self.words[0] + unrelated.WORD))

def elsewhere():
    return 1
"""


@pytest.fixture
def run_cell(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, str]]:
    """Executes a notebook's text as a kernel does; returns the sources of the class in it."""
    main = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)

    def run(text: str) -> dict[str, str]:
        cell = f"<cell {hash(text)}>"
        linecache.cache[cell] = (len(text), None, text.splitlines(keepends=True), cell)
        exec(compile(text, cell, "exec"), main.__dict__)  # noqa: S102
        config, _ = load_config(None, settings={"agent": "__main__:Mine", "data_path": "builtin"})
        return hash_sources(config)

    return run


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ('words = ["look"]', 'words = ["inventory"]', ["Mine in the notebook"]),
        ("self.words[0]", "self.words[-1]", ["Mine in the notebook"]),
        ('"hello"', '"bye"', ["GREETING in the notebook"]),
        ("return GREETING", "return GREETING * 2", ["Base in the notebook"]),
        ('EXAMPLES = ["one"]', 'EXAMPLES = ["two"]', ["EXAMPLES in the notebook"]),
        ("return EXAMPLES[0]", "return EXAMPLES[-1]", ["choose in the notebook"]),
        ("return 1", "return 2", []),
        ("COUNT = 0", "COUNT = 7", []),
        ("class Mine", "# a remark\nclass Mine", []),
    ],
)
def test_a_notebooks_class_is_known_with_what_it_uses(
    run_cell: Callable[[str], dict[str, str]], old: str, new: str, changed: list[str]
) -> None:
    before = run_cell(NOTEBOOK)
    assert "unrelated.py" in before  # which it imports, so that it is not unrelated
    assert find_changed(before, run_cell(NOTEBOOK.replace(old, new))) == changed


def test_a_metric_of_a_notebook(run_cell: Callable[[str], dict[str, str]]) -> None:
    run_cell(NOTEBOOK + METRIC)
    before = hash_metrics(["__main__:STEPS"])
    run_cell(NOTEBOOK + METRIC.replace("FACTOR = 1", "FACTOR = 2"))
    changed = find_changed(before, hash_metrics(["__main__:STEPS"]))
    assert changed == ["FACTOR in the notebook"]


def test_a_source_that_only_moved_has_not_changed() -> None:
    assert find_changed({"a.txt": "1"}, {"b.txt": "1"}) == []
    assert find_changed({"a.txt": "1"}, {"a.txt": "2"}) == ["a.txt"]
    assert find_changed({"a.py": "1"}, {"a.py": "1", "b.py": "2"}) == ["b.py"]
    assert find_changed(None, {"a.py": "1"}) == []
