"""Whatever is printed for people passes the same cleaning, on standard error too."""

import re
from pathlib import Path

import pytest

from agentquest.cli.app import main
from report_runs import HARM, hostile, hostile_manifest, record, saved

SOURCE = Path(__file__).parents[2] / "src" / "agentquest" / "cli"
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_one_function_prints() -> None:
    printing = re.compile(r"typer\.s?echo\(|\bprint\(|sys\.std(?:out|err)\.write\(")
    found = [
        f"{file.name}: {line.strip()}"
        for file in sorted(SOURCE.glob("*.py"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if printing.search(line) and "console.print(" not in line and file.name != "terminal.py"
    ]
    assert found == []


@pytest.mark.parametrize("name", ["hostile", "broken"])
def test_no_run_acts_on_the_terminal(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / name
    saved(run, hostile(), hostile_manifest())
    saved(tmp_path / "plain", [record("a")])
    if name == "broken":
        text = (run / "manifest.json").read_text(encoding="utf-8")
        (run / "manifest.json").write_text(text.replace('"trials": 1', f'"{HARM[-30:-20]}": 1'))
    for words in (
        ["compare", str(run), str(tmp_path / "plain")],
        ["report", str(run)],
        ["runs", str(tmp_path)],
        ["runs", str(tmp_path), "--json"],
        ["report", str(run), "-f", "csv"],
        ["rerun", str(run), "\x1b]0;owned\x07=1"],
        ["eval", "benchmark=\x1b[31m\u202e"],
    ):
        with pytest.raises(SystemExit):
            main(words)
        said = capsys.readouterr()
        assert said.out + said.err, words
        assert ACTS.findall(said.out + said.err) == [], words
