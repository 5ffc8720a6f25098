"""People's games are recorded by the functions that record every run."""

from pathlib import Path

import pytest

from agentquest import load_run
from agentquest.benchmarks.alfworld.benchmark import AlfWorldBenchmark
from agentquest.lib.people import PlayedGame, PlayedMove
from agentquest.people.recorder import GameRecorder
from agentquest.store.folder import METRICS, RESULTS
from agentquest.store.library import RunSummary


def test_the_benchmarks_own_metrics_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AlfWorldBenchmark, "metrics", ("custom_metric:OPENED",))
    settings = {"data_path": "builtin"}
    benchmark = AlfWorldBenchmark(**settings)
    moves = [PlayedMove("look", 1.5), PlayedMove("inventory", 0.5), PlayedMove(None, 0.1)]
    game = PlayedGame(benchmark.tasks()[0], moves, "2026-01-01T00:00:00+00:00")
    recorder = GameRecorder(benchmark, settings, tmp_path)
    record = recorder.save(game)
    assert [step.seconds for step in record.steps] == [1.5, 0.5, 0.1]
    assert {METRICS, RESULTS} <= {file.name for file in recorder.path.iterdir()}
    run = load_run(recorder.path)
    assert run.rows[0].values["opened"] == 0.0
    assert RunSummary.of(run).scored == "1"
    assert "tasks" not in dict(run.report.facts)
