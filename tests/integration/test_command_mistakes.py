"""A mistake on the command line is one line that says what to do, exit code 2, no traceback."""

import shlex
import sys
from pathlib import Path

import pytest
from command_mistakes import FILES, MISTAKES

import agentquest
from agentquest.cli import main
from agentquest.store.index import INDEX


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the mistakes are made with, in the folder they are made in."""
    folder = tmp_path_factory.mktemp("mistakes")
    run, other = (
        agentquest.evaluate(
            benchmark="mastermind", agent=agent, num_games=1, output_dir=folder / "runs"
        ).path.relative_to(folder)
        for agent in ("scripted", "random")
    )
    for name, content in FILES.items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(content, encoding="utf-8")
    (folder / "empty").mkdir()
    (folder / "text").write_text("key: [1, 2\n", encoding="utf-8")
    (folder / "bad.yaml").write_text("num_gmes: 3\n", encoding="utf-8")
    (folder / "sweep.yaml").write_text("name: x\nmodles: [a]\n", encoding="utf-8")
    files = {"text": "text", "bad": "bad.yaml", "sweep": "sweep.yaml"}
    runs = {"run": str(run), "other": str(other), "runs": "runs"}
    return {**runs, "empty": "empty", **files, "folder": str(folder)}


def test_there_are_enough() -> None:
    words = [mistake for mistake, _ in MISTAKES]
    assert len(words) == len(set(words)) >= 200


@pytest.mark.parametrize(("mistake", "said"), MISTAKES, ids=[words for words, _ in MISTAKES])
def test_a_mistake(
    mistake: str,
    said: str,
    places: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(places["folder"])
    monkeypatch.delenv("ROLE", raising=False)
    monkeypatch.setattr("sys.path", list(sys.path))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    before = there()
    with pytest.raises(SystemExit) as left:
        main(shlex.split(mistake.format(**places)))
    out, err = capsys.readouterr()
    assert left.value.code == 2, err
    # What a run says before its first game may stand above the one line of the mistake.
    *above, mistaken = err.strip().splitlines()
    assert all(line.startswith(("note: ", "asking ")) for line in above), err
    assert mistaken.startswith("agentquest: ")
    assert said in mistaken
    assert out == ""
    assert there() == before, "nothing was made or left behind"


def test_no_mistake_fills_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["eval", f"benchmark={'x' * 1_000_000}"])
    assert 5_000 < len(capsys.readouterr().err) < 15_000


def there() -> set[Path]:
    """All files here but the index, which any reader of a run may add."""
    return {path for path in Path().rglob("*") if path.name != INDEX}
