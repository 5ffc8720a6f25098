"""CONTRIBUTING is true: the files it names are there, and its shortest recipes work."""

import re
from pathlib import Path

import pytest

import agentquest
from agentquest.benchmarks.mastermind import tasks as mastermind
from agentquest.running.check import CHECKS, check_benchmark

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(agentquest.__file__).parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
# Where a path may stand: the source, the repository, or a benchmark's folder.
PLACES = (SOURCE, ROOT, *(SOURCE / "benchmarks").iterdir())
PATHS = sorted(
    {
        path
        for path in re.findall(r"[`( ]((?:[\w.]+/)*[\w.]+(?:\.py|\.md|\.toml|/))", PAGE)
        if "NAME" not in path
    }
)
CHANGES = re.findall(r"^\*\*(.+?)\*\*", PAGE.partition("## Further")[0], re.MULTILINE)


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_is_named_is_there(path: str) -> None:
    assert any((place / path).exists() for place in PLACES)


def test_ten_changes_are_described_briefly() -> None:
    assert len(CHANGES) == 10
    for paragraph in PAGE.partition("## Ten")[2].partition("## Further")[0].split("\n\n"):
        if paragraph.startswith("**"):
            assert 2 <= len(paragraph.splitlines()) <= 4, paragraph


def test_a_task_type_of_mastermind_is_one_number(tmp_path: Path) -> None:
    """The recipe, carried out on a copy of the folder under another name."""
    source = SOURCE / "benchmarks" / "mastermind"
    copy = tmp_path / "longer_mastermind"
    copy.mkdir()
    for file in source.glob("*.py"):
        text = file.read_text(encoding="utf-8")
        text = text.replace("agentquest.benchmarks.mastermind", "longer_mastermind")
        (copy / file.name).write_text(
            text.replace(f"LENGTHS = {mastermind.LENGTHS}", "LENGTHS = (4, 9)"), encoding="utf-8"
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        name = "longer_mastermind.benchmark:MasterMindBenchmark"
        wanted = [check for check in CHECKS if check.name in ("made", "tasks", "splits", "oracle")]
        results = list(check_benchmark(name, {"task_types": ["9 digits"]}, checks=wanted[:1]))
        results += list(check_benchmark(name, checks=wanted))
    assert [result.problems for result in results if not result.ok] == []
