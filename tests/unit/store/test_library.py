"""The runs of a folder: what is in it now, whatever was there before, and nothing outside."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentquest.errors import UserError
from agentquest.records.outcome import End
from agentquest.reports.compare import open_runs
from agentquest.store import index, lines
from agentquest.store.folder import EPISODES, MANIFEST, RunFolder
from agentquest.store.index import INDEX
from agentquest.store.library import BrokenRun, Library, RunSummary
from agentquest.store.stored_run import StoredRun
from report_runs import manifest, record, saved


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = tmp_path / "runs"
    content = manifest(task_ids=["a", "b"])
    saved(runs / "first", [record("a"), record("b", End.FAILED)], content)
    saved(runs / "sweep" / "second", [record("a")], content)
    return runs


def summaries(library: Library) -> dict[str, RunSummary]:
    return {one.name: one for one in library.summaries() if isinstance(one, RunSummary)}


def successes(library: Library) -> dict[str, float | None]:
    found = summaries(library)
    return {
        n: one.figures.success.value if one.figures.success else None for n, one in found.items()
    }


def test_runs_are_found_two_levels_deep(folder: Path) -> None:
    saved(folder / "one" / "two" / "three", [record("a")])
    saved(folder / "first" / "inside", [record("a")])
    (folder / "notes.txt").write_text("")
    (folder / "empty").mkdir()
    assert Library(folder).names() == ["first", "sweep/second"]
    assert Library(folder / "first").names() == ["first"]
    assert Library(folder / "none").names() == []


def test_a_link_that_leads_to_itself_hides_no_run(folder: Path) -> None:
    for place in (folder / "loop", folder / "sweep" / "loop"):
        place.symlink_to(place.name)
    assert Library(folder).names() == ["first", "sweep/second"]
    (folder / "sweep" / "around").symlink_to(folder)
    assert Library(folder).names() == ["first", "sweep/second"]
    with pytest.raises(UserError, match="is not a run directory"):
        StoredRun(folder / "loop")
    found, broken = open_runs([folder / "loop", folder / "first"])
    assert [one.name for one in (*found, *broken)] == ["first", "loop"]


def test_a_list_has_the_figures_of_every_run(folder: Path) -> None:
    found = summaries(Library(folder))
    first, second = found["first"].figures, found["sweep/second"].figures
    assert (first.episodes, first.scored, first.steps) == (2, 2, 2.0)
    assert (second.episodes, second.scored) == (1, 1)
    assert successes(Library(folder)) == {"first": 0.5, "sweep/second": 1.0}
    assert (first.tokens, first.cost) == (None, None)


@pytest.mark.parametrize(
    "name",
    [
        *("..", "../outside", "first/..", "sweep/../../outside", ".", "", "/", "first/"),
        *("sweep", "sweep\\second", "first\0", "a/b/c", "none"),
    ],
)
def test_no_name_leads_out_of_the_folder(folder: Path, name: str) -> None:
    outside = saved(folder.parent / "outside", [record("secret")]).path
    shutil.copytree(outside, folder.parent, dirs_exist_ok=True)
    with pytest.raises(UserError, match="there is no run"):
        Library(folder).run(name)


def test_a_library_of_one_run_has_no_other(folder: Path) -> None:
    library = Library(folder / "first")
    assert len(library.run("first").rows) == 2
    for name in ("second", "../sweep/second", "."):
        with pytest.raises(UserError, match="there is no run"):
            library.run(name)


def test_what_cannot_be_read_is_listed_with_its_problem(folder: Path) -> None:
    (folder / "damaged").mkdir()
    (folder / "damaged" / MANIFEST).write_text("{")
    (folder / "bare").mkdir()
    shutil.copy(folder / "first" / EPISODES, folder / "bare")
    broken = [one for one in Library(folder).summaries() if isinstance(one, BrokenRun)]
    assert [one.name for one in broken] == ["bare", "damaged"]
    assert "it has episodes but no manifest.json" in broken[0].problem
    assert "manifest.json" in broken[1].problem


def test_figures_are_computed_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Library(folder).summaries()

    def refuse(*given: object) -> None:
        raise AssertionError("a record or row was read")

    monkeypatch.setattr(lines, "_parse", refuse)
    monkeypatch.setattr(index.RowIndex, "_keep", refuse)
    assert Library(folder).summaries() == expected


def test_figures_grow_with_the_run(folder: Path) -> None:
    library = Library(folder)
    assert summaries(library)["sweep/second"].state == "stopped"
    with library.run("sweep/second").folder.lock() as log:
        assert summaries(library)["sweep/second"].state == "running"
        log.append(record("b", End.FAILED))
    for one in (library, Library(folder)):
        assert successes(one) == {"first": 0.5, "sweep/second": 0.5}
        assert summaries(one)["sweep/second"].state == "complete"


def states(folder: Path) -> dict[str, str]:
    return {name: one.state for name, one in summaries(Library(folder)).items()}


def test_a_run_is_running_while_a_process_holds_its_lock(folder: Path) -> None:
    """However long ago it has written something, and whoever asks meanwhile."""
    saved(folder / "lost", [record("a"), record("b", End.INFRASTRUCTURE_FAULT)],
          manifest(task_ids=["a", "b"]))  # fmt: skip
    lost, second = RunFolder(folder / "lost"), RunFolder(folder / "sweep" / "second")
    assert states(folder) == {"first": "complete", "lost": "pending", "sweep/second": "stopped"}
    with lost.lock(), second.lock():
        long_ago = time.time() - 1000
        for file in folder.rglob(EPISODES):
            os.utime(file, (long_ago, long_ago))
        assert states(folder) == {"first": "complete", "lost": "running", "sweep/second": "running"}
    assert states(folder) == {"first": "complete", "lost": "pending", "sweep/second": "stopped"}
    assert not list(folder.rglob("*heartbeat*"))


def test_a_killed_run_has_stopped_at_once(folder: Path) -> None:
    second = folder / "sweep" / "second"
    code = (
        "import sys, pathlib; from agentquest.store.folder import RunFolder\n"
        "with RunFolder(pathlib.Path(sys.argv[1])).lock(): print('held', flush=True), input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(second)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        while not (second / ".heartbeat").exists():
            time.sleep(0.01)
        assert states(folder)["sweep/second"] == "running"
        process.kill()
        process.wait()
    assert (second / ".heartbeat").exists()
    assert states(folder)["sweep/second"] == "stopped"


def test_a_run_on_another_machine_is_known_by_its_heartbeat(folder: Path) -> None:
    heartbeat = folder / "sweep" / "second" / ".heartbeat"
    for at, state in ((time.time(), "running"), (time.time() - 1000, "stopped")):
        heartbeat.write_text(json.dumps({"host": "elsewhere", "at": at}))
        assert states(folder)["sweep/second"] == state
    far = [f'{{"host": "elsewhere", "at": {at}}}' for at in ("1" * 400, "1e999", "9e15", "NaN")]
    for nonsense in ("", "[]", '{"host": 1}', "{" * 5000, "[" * 990, *far):
        heartbeat.write_text(nonsense)
        assert states(folder)["sweep/second"] == "stopped"


def test_a_run_that_is_played_is_not_told_to_be_started_again(folder: Path) -> None:
    run = Library(folder).run("sweep/second")
    advice = "run the same command again"
    assert any(advice in warning for warning in run.report.warnings)
    with run.open_for_writing():
        assert not any(advice in warning for warning in run.report.warnings)
        assert any("The run is still going on" in warning for warning in run.report.warnings)
        run.save_results()
    assert any(advice in warning for warning in run.report.warnings)
    assert advice in (run.path / "results.json").read_text()


def test_a_new_run_under_an_old_name_shows_its_own_figures(folder: Path) -> None:
    """Also to a viewer that had the old one open, and after its restart."""
    library = Library(folder)
    assert successes(library)["first"] == 0.5
    assert library.run("first").report.overall.group.successes == 1
    shutil.rmtree(folder / "first")
    assert "first" not in successes(library)
    lost = [record("a", End.FAILED), record("b", End.FAILED)]
    saved(folder / "first", lost, manifest(task_ids=["a", "b"], note="new"))
    for one in (library, Library(folder), library):
        assert successes(one)["first"] == 0.0
        assert summaries(one)["first"].manifest.note == "new"
        assert one.run("first").report.overall.group.successes == 0


def test_figures_of_other_episodes_are_not_believed(folder: Path) -> None:
    Library(folder).summaries()
    first, second = folder / "first", folder / "sweep" / "second"
    shutil.copy(first / INDEX, second / INDEX)
    assert successes(Library(folder)) == {"first": 0.5, "sweep/second": 1.0}


def test_a_folder_that_cannot_be_written_to_is_listed_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(index, "take_lock", fails)
    assert successes(Library(folder)) == {"first": 0.5, "sweep/second": 1.0}
    assert not list(folder.rglob(INDEX))


def test_a_manifest_that_changes_is_read_again(folder: Path) -> None:
    library = Library(folder)
    assert summaries(library)["first"].manifest.tags == []
    run = library.run("first")
    run.folder.create("", run.manifest.model_copy(update={"tags": ["cold"]}))
    assert summaries(library)["first"].manifest.tags == ["cold"]
    assert library.run("first").manifest.tags == ["cold"]
