"""A metric of the user's own, named in the configuration, has one value in all documents."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import agentquest
import warm_python
from agentquest.api import RunResult
from agentquest.errors import UserError
from agentquest.metrics.table import Metric
from agentquest.records.episode import EpisodeRecord
from agentquest.reports.compare import compare_runs, open_runs
from agentquest.reports.render.csv import csv_report
from agentquest.reports.render.text import markdown_report, text_report
from agentquest.store.folder import METRICS, RESULTS, RunFolder
from agentquest.store.library import Library
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.export import export


def choices(record: EpisodeRecord) -> float | None:
    """How many commands were possible on average: needs what slim records leave out."""
    offered = [len(step.admissible) for step in record.steps[:-1]]
    return sum(offered) / len(offered) if offered else None


CHOICES = Metric("choices", "choices", "commands", "average commands possible", choices, digits=3)


BROKEN = Metric("broken", "broken", "", "", lambda record: 1 / (len(record.steps) - 1000))
MISTAKEN = Metric("mistaken", "mistaken", "", "", lambda record: 1 / (record.trial - record.trial))


def evaluate(folder: Path, *names: str, **changes: Any) -> RunResult:
    settings = {"data_path": "builtin", "num_games": 3, "output_dir": str(folder), **changes}
    metrics = [f"test_custom_metrics:{name}" for name in names]
    return agentquest.evaluate(benchmark="alfworld", agent="scripted", metrics=metrics, **settings)


@pytest.mark.parametrize("executor", ["local", "processes"])
def test_one_value_in_every_document(tmp_path: Path, executor: str) -> None:
    result = evaluate(tmp_path, "CHOICES", executor=executor)
    run = RunFolder(result.path)
    by_hand = [value for record in run.records() if (value := choices(record)) is not None]
    mean = sum(by_hand) / len(by_hand)
    assert mean > 1
    assert result.summary["metrics"]["choices"]["value"] == pytest.approx(mean)
    assert [row["choices"] for row in result.to_rows()] == pytest.approx(
        [choices(record) for record in result.records]
    )
    document = json.loads((result.path / RESULTS).read_text())
    assert document["summary"]["metrics"]["choices"]["value"] == pytest.approx(mean)
    assert sorted(one["metrics"]["choices"] for one in document["results"]) == pytest.approx(
        sorted(by_hand)
    )
    report = StoredRun(run.path).report
    export(Library(run.path), tmp_path / "pages")
    for written in (
        text_report(report),
        markdown_report(report),
        (tmp_path / "pages" / "index.html").read_text(),
    ):
        assert f"{mean:.3f}" in written
    *_, row = csv.DictReader(io.StringIO(csv_report(report)))
    assert float(row["choices"]) == pytest.approx(mean)
    same = compare_runs(open_runs([run.path, run.path])[0])[0].differences["choices"]
    assert (same.baseline, same.difference.value) == pytest.approx((mean, 0.0))


def test_a_metric_that_is_not_there_is_refused_before_the_run_begins(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="test_custom_metrics:MISSING"):
        evaluate(tmp_path / "runs", "MISSING")
    assert not (tmp_path / "runs").exists()


def test_a_metric_can_be_added_to_a_finished_run(tmp_path: Path) -> None:
    first = evaluate(tmp_path)
    assert "choices" not in first.summary["metrics"]
    again = evaluate(tmp_path, "CHOICES")
    assert again.path == first.path
    assert len(list(RunFolder(again.path).tries())) == 3
    found = StoredRun(again.path).report.overall.cells["choices"].estimate
    assert found is not None
    assert found.n == 3
    evaluate(tmp_path)
    assert "choices" not in StoredRun(again.path).report.overall.cells


def test_why_a_metric_failed_is_still_known_later(tmp_path: Path) -> None:
    result = evaluate(tmp_path, "MISTAKEN", "BROKEN")
    told = "The metric mistaken could not be computed for 3 episodes and leaves out what failed"
    for warnings in (result.report.warnings, StoredRun(result.path).report.warnings):
        assert len(warnings) == 1
        assert warnings[0].startswith(told)
        assert warnings[0].endswith(": ZeroDivisionError: division by zero")


def test_what_was_not_measured_is_said(tmp_path: Path) -> None:
    result = evaluate(tmp_path, "CHOICES")
    run = RunFolder(result.path)
    stored = run.measured()
    (one,) = stored.metrics
    kept = dict(list(one.values.items())[:2])
    run.write_measured(
        stored.model_copy(update={"metrics": [one.model_copy(update={"values": kept})]})
    )
    (warning,) = StoredRun(run.path).report.warnings
    assert "could not be computed for 1 episode" in warning
    assert warning.endswith("not measured yet; run the same command again to measure it")
    (result.path / METRICS).unlink()
    (warning,) = StoredRun(run.path).report.warnings
    assert warning.startswith("The metric test_custom_metrics:CHOICES has not been measured")


def test_reading_a_run_imports_nothing_that_it_names(tmp_path: Path) -> None:
    """The module is gone, and one that would speak when imported is named beside it."""
    result = evaluate(tmp_path, "CHOICES")
    file = result.path / "manifest.json"
    content = json.loads(file.read_text())
    content["metrics"].append("this:Nope")
    file.write_text(json.dumps(content))
    other = shutil.copytree(result.path, tmp_path / "other")
    done = [
        warm_python.agentquest(*command, result.path, cwd=tmp_path)
        for command in (["report"], ["compare", str(other)], ["report", "-f", "csv"])
    ]
    assert [each.returncode for each in done] == [0, 0, 0]
    told = [each.stdout for each in done]
    assert all("choices" in one for one in told)
    assert "The metric this:Nope has not been measured" in told[0]
    assert not any("Zen of Python" in one for one in told)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"key": "=cmd|calc"}, "key"),
        ({"digits": 10**9}, "digits"),
        ({"values": {"a#0": "many"}}, "values"),
    ],
)
def test_a_file_that_holds_no_metrics_is_an_error(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    result = evaluate(tmp_path, "CHOICES")
    file = result.path / METRICS
    content = json.loads(file.read_text())
    content["metrics"][0].update(changes)
    file.write_text(json.dumps(content))
    with pytest.raises(UserError, match=rf"{METRICS}.*{said}"):
        assert StoredRun(result.path).report
