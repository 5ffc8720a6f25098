"""One game of one step, and every page and message about it: nothing says `1 steps`."""

import re
from pathlib import Path

import pytest

from agentquest.cli import main
from agentquest.words import counted, plural

WRONG = re.compile(
    r"\b1 (episodes|games|steps|runs|tasks|times|calls|tokens|requests|messages|characters|replies"
    r"|trials|lines|files|products|checks|retries)\b"
)
ONE_STEP = ("eval", "benchmark=mastermind", "agent=random", "num_games=1", "max_steps=1")


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """What a command prints, on both streams."""
    with pytest.raises(SystemExit) as left:
        main(list(words))
    assert left.value.code == code
    return "".join(capsys.readouterr())


def test_nothing_said_about_one_game_has_a_wrong_plural(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {}
    for name in ("one", "two"):
        texts[f"eval {name}"] = said(capsys, *ONE_STEP, f"run_name={name}")
    commands = {
        "dry run": (*ONE_STEP, "run_name=one", "--dry-run"),
        "resume": (*ONE_STEP, "run_name=one"),
        "rerun": ("rerun", "runs/one", "seed=7", "--dry-run"),
        "report": ("report", "runs/one"),
        "markdown": ("report", "runs/one", "-f", "markdown"),
        "csv": ("report", "runs/one", "-f", "csv"),
        "compare": ("compare", "runs/one", "runs/two", "--list"),
        "runs": ("runs",),
        "tasks": ("tasks", "mastermind", "--match", "test/4-digits/000"),
        "html": ("report", "runs/one", "-f", "html"),
        "view": ("view", "runs", "--export", "pages"),
    }
    for name, words in commands.items():
        texts[name] = said(capsys, *words)
    pages = [*Path("pages").rglob("*.html"), *Path("runs/one/report").rglob("*.html")]
    assert len(pages) > 5
    texts |= {str(page): page.read_text(encoding="utf-8") for page in pages}
    texts["log"] = Path("runs/one/run.log").read_text(encoding="utf-8")
    wrong = {name: WRONG.search(text) for name, text in texts.items()}
    assert not {name: found[0] for name, found in wrong.items() if found}
    # The words are there to be wrong.
    assert "1 episode" in texts["dry run"]
    assert "1 of 1 episode already played" in texts["resume"]
    assert any("1 step" in text for name, text in texts.items() if name.endswith(".html"))


def test_counts() -> None:
    assert [counted(number, "step") for number in (0, 1, 2)] == ["0 steps", "1 step", "2 steps"]
    assert counted(1200, "reply") == "1,200 replies"
    assert plural(2, "play") == "plays"
