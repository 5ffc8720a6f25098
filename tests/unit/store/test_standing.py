"""A run that is being played says how far it is, alike in lists, on pages and in a terminal."""

from pathlib import Path

import pytest

from agentquest.cli.runs import listing
from agentquest.metrics.report import hide_success
from agentquest.metrics.summary import Standing
from agentquest.records.episode import LiveEvent
from agentquest.records.outcome import End
from agentquest.reports.render.text import text_report
from agentquest.store.library import Library, RunSummary
from agentquest.store.live import LiveLog
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.addresses import SITE
from agentquest.viewer.layout import render
from agentquest.viewer.run_page import run_page
from agentquest.viewer.runs_page import runs_page
from report_runs import manifest, record, saved


def test_a_run_in_progress_has_counts_and_bounds_instead_of_an_interval(tmp_path: Path) -> None:
    """Two of six ended, three more began, and one's text speaks of events."""
    content = manifest(task_ids=[f"t{i}" for i in range(6)])
    folder = saved(tmp_path / "run", [record("t0"), record("t1", End.STEP_LIMIT)], content)
    live = LiveLog(folder.path)
    for i in range(5):
        goal = 'say {"event":"start"}'
        live.append(LiveEvent(event="start", key=f"t{i}", task_id=f"t{i}", trial=0, goal=goal))
    for i in range(2):
        live.append(LiveEvent(event="end", key=f"t{i}", task_id=f"t{i}", trial=0))
    live.flush()
    with folder.lock():
        (found,) = Library(tmp_path).summaries()
        assert isinstance(found, RunSummary)
        assert found.standing == Standing(solved=1, not_solved=1, playing=3, waiting=1)
        assert found.standing.bounds == pytest.approx((1 / 6, 5 / 6))
        said = "1 solved, 1 not solved, 3 playing, 1 waiting"
        listed = listing([found], 100)
        assert f"{said}; success will be 16.7–83.3%" in listed
        assert "17% to 83%" in listed
        assert "[" not in listed
        run = StoredRun(folder.path)
        page = render(*run_page(SITE, run, {}))
        printed = text_report(hide_success(run.report, found.standing))
        assert f"!!! So far: {said};" in printed
        assert "50.0%" not in printed
        rows = render(*runs_page(SITE, Library(tmp_path), {}))
        assert said in rows
        assert "success will be 16.7–83.3%" in rows
        assert "1 not solved, 3 playing, 1 waiting; success will be 16.7–83.3%" in page
        assert "1/2 <small>so far</small>" in page
        assert "50.0%" not in page
        assert "Band: its 95% interval" not in page


def test_a_run_that_has_stopped_has_its_interval(tmp_path: Path) -> None:
    content = manifest(task_ids=[f"t{i}" for i in range(6)])
    folder = saved(tmp_path / "run", [record("t0"), record("t1", End.STEP_LIMIT)], content)
    assert not folder.in_use
    (found,) = Library(tmp_path).summaries()
    assert isinstance(found, RunSummary)
    assert (found.state, found.standing) == ("stopped", None)
    assert "50.0% [0–100]" in listing([found], 100)
    assert "fewer than 10 tasks: run" in listing([found], 100)
