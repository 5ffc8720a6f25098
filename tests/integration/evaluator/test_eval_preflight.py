"""A model that cannot be asked is one line before anything is played or made."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from evaluator_runs import agentquest, model_at, rule_server

from agentquest.store.folder import RunFolder

KEY = "sk-test-5up3rs3cr3t-0123456789abcdef"


@contextmanager
def nobody() -> Iterator[str]:
    with rule_server() as url:
        pass
    yield url


@contextmanager
def another_path() -> Iterator[str]:
    with rule_server() as url:
        yield url.removesuffix("/v1")


CASES = {
    "away": (nobody, [], "no server at"),
    "path": (another_path, [], "nothing answers at"),
    "model": (lambda: rule_server("--fault", "404=1.0"), [], "does not have the model"),
    "key": (lambda: rule_server("--api-key", "x" * 20), ["llm.api_key_env=A_KEY"], "in $A_KEY"),
    "tools": (
        lambda: rule_server("--fault", "no-tools=1.0"),
        ["agent=tools"],
        "cannot call tools",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_one_line_and_nothing_is_left_behind(case: str, tmp_path: Path) -> None:
    server, settings, told = CASES[case]
    arguments = ["num_games=24", "llm.wait_interval=9", *settings]
    with server() as url:
        given = [part for part in model_at(url) if "wait" not in part and "history" not in part]
        done = agentquest(tmp_path, "eval", *given, *arguments, A_KEY=KEY)
    assert done.returncode == 2, done.stderr
    asking, line = done.stderr.splitlines()
    assert asking.startswith("asking ")
    assert line.startswith("agentquest: ")
    assert told in line
    assert KEY not in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_complete_needs_no_server(tmp_path: Path) -> None:
    with rule_server() as url:
        words = [*model_at(url), "num_games=1", "max_steps=2", "run_name=r"]
        first = agentquest(tmp_path, "eval", *words)
        assert first.returncode == 0, first.stderr
    again = agentquest(tmp_path, "eval", *words)
    assert again.returncode == 0, again.stderr


def test_nor_does_one_whose_replies_are_kept(tmp_path: Path) -> None:
    with rule_server() as url:
        words = [*model_at(url), "num_games=1", "max_steps=2", "llm.cache_dir=kept"]
        first = agentquest(tmp_path, "eval", *words, "run_name=a")
        assert first.returncode == 0, first.stderr
    again = agentquest(tmp_path, "eval", *words, "run_name=b")
    assert again.returncode == 0, again.stderr
    (record,) = RunFolder(tmp_path / "runs" / "b").records()
    assert all(step.calls[0].cached for step in record.steps)


@pytest.mark.parametrize("setting", ["temperature=0.5", "llm.max_tokens=9", "llm.provider=gemini"])
def test_settings_of_a_model_without_a_model_say_which_to_change(
    tmp_path: Path, setting: str
) -> None:
    done = agentquest(tmp_path, "eval", setting)
    assert done.returncode == 2
    name = setting.partition("=")[0].removeprefix("llm.")
    assert done.stderr.startswith(f"agentquest: llm.model: llm.{name}")
    assert "is set, but no model; name one (model=NAME), or remove" in done.stderr
