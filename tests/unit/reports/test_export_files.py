"""Exports are whole or not there, and every format of the table can be written."""

import contextlib
from pathlib import Path

import pytest

from agentquest.errors import UserError
from agentquest.reports.exports import FORMATS, draft_of, export_run
from agentquest.store.stored_run import StoredRun
from report_runs import manifest, record, saved, step


def fail_half_way(file: Path) -> None:
    with draft_of(file.parent, file.name) as draft:
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


@pytest.mark.parametrize("name", ["atif", "hf", "eval", "csv"])
def test_nothing_is_written_where_a_run_leads(tmp_path: Path, name: str) -> None:
    about = manifest(task_ids=["a"])
    away = about.model_copy(update={"created_at": f"../../{tmp_path.name}/away/x"})
    made = f"{name}-{about.run_id}"
    (tmp_path / "away").mkdir()
    for place, one in (("run", about), ("named-away", away)):
        run = saved(tmp_path / place, [record("a")], one).path
        for link in (made, f"{made}/data"):
            (run / link).parent.mkdir(exist_ok=True)
            (run / link).symlink_to(tmp_path / "away")
            with contextlib.suppress(UserError):
                export_run(StoredRun(run), name, run)
            (run / link).unlink()
        assert list((tmp_path / "away").iterdir()) == []


@pytest.mark.parametrize("name", ["atif", "hf", "eval", "csv"])
def test_a_record_whose_times_make_no_sense_is_exported_too(tmp_path: Path, name: str) -> None:
    slow = step(1).model_copy(update={"seconds": 1e12})
    strange = record("a", steps=[slow, slow]).model_copy(update={"started_at": "\x1b[1mnever"})
    run = StoredRun(saved(tmp_path / "run", [strange, record("b")]).path)
    made = export_run(run, name, tmp_path / "out")
    files = [made] if made.is_file() else [file for file in made.rglob("*") if file.is_file()]
    assert all(file.stat().st_size for file in files)
