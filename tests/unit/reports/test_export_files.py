"""Exports are whole or not there, and every format of the table can be written."""

from pathlib import Path

import pytest

from agentquest.errors import UserError
from agentquest.reports.exports import FORMATS, draft_of, export_run
from agentquest.store.stored_run import StoredRun
from report_runs import record, saved


def fail_half_way(file: Path) -> None:
    with draft_of(file) as draft:
        draft.write_text("half", encoding="utf-8")
        raise OSError(28, "No space left on device")


def test_a_failed_export_leaves_nothing_behind(tmp_path: Path) -> None:
    file = tmp_path / "made" / "episodes.csv"
    with pytest.raises(UserError, match=r"cannot write .*episodes\.csv: No space left on device"):
        fail_half_way(file)
    assert list(file.parent.iterdir()) == []


def test_a_failed_export_leaves_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "episodes.csv"
    file.write_text("whole", encoding="utf-8")
    with pytest.raises(UserError, match="No space left"):
        fail_half_way(file)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"episodes.csv": "whole"}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_where_it_says(tmp_path: Path, name: str) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow")
    run = StoredRun(saved(tmp_path / "run", [record("a"), record("b")]).path)
    made = export_run(run, name, tmp_path / "out")
    files = [made] if made.is_file() else [file for file in made.rglob("*") if file.is_file()]
    assert files
    assert all(file.stat().st_size for file in files)
    assert {file for file in (tmp_path / "out").rglob("*") if file.is_file()} == set(files)
