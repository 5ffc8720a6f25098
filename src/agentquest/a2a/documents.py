"""The documents of an assessment, next to the files of its run.

    logs/run_YYYYMMDD_HHMMSS/
      run_summary.json  run_report.txt  game_000.json  game_000_actions.jsonl …
      config.yaml  manifest.json  episodes.jsonl …     as every run has them

All are made from the run's records. A killed run keeps the games that were
over; the summary is rewritten now and then, and each file is whole or absent.
"""

import json
import threading
import time
from datetime import datetime, timezone

from agentquest.a2a.figures import Game, action_lines, game_document
from agentquest.a2a.report_text import report_text
from agentquest.a2a.results import AssessmentInfo, AssessmentResult, summary_document
from agentquest.files import to_json, write_atomically
from agentquest.records.episode import EpisodeRecord
from agentquest.reports.results_json import results_document
from agentquest.running.run import Run

SUMMARY = "run_summary.json"
REPORT = "run_report.txt"
RUNNING, COMPLETED, CANCELLED, FAILED = "running", "completed", "cancelled", "failed"


class AssessmentDocuments:
    """What is written of one run, from the records it has so far."""

    def __init__(self, run: Run, info: AssessmentInfo) -> None:
        self._run = run
        self._info = info
        self._folder = run.directory.path
        self._clock = time.monotonic()
        self._writing = threading.Lock()
        self._is_over = False

    def write_game(self, index: int, record: EpisodeRecord) -> None:
        """`game_NNN.json` and `game_NNN_actions.jsonl`, from a whole record."""
        name, folder = f"game_{index:03d}", self._folder
        lines = [json.dumps(line, ensure_ascii=False) for line in action_lines(record)]
        turns = "".join(f"{line}\n" for line in lines)
        write_atomically(folder / f"{name}_actions.jsonl", turns)
        game = Game.of(index, record, self._info.manifest)
        write_atomically(folder / f"{name}.json", to_json(game_document(game)))

    def write(self, status: str) -> AssessmentResult:
        """`run_summary.json` and `run_report.txt`; `results.json` too when all is over.

        Whoever is late with what was true while it ran does not overwrite the end.
        """
        result = self._result(status)
        with self._writing:
            if status != RUNNING:
                self._is_over = True
                manifest, run = self._info.manifest, self._run
                run.directory.write_results(results_document(manifest, run.records, run.rows))
            elif self._is_over:
                return result
            write_atomically(self._folder / SUMMARY, to_json(summary_document(result)))
            write_atomically(self._folder / REPORT, report_text(result))
        return result

    def _result(self, status: str) -> AssessmentResult:
        manifest = self._info.manifest
        places = {task: place for place, task in enumerate(manifest.task_ids)}
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        return AssessmentResult(
            info=self._info,
            folder=str(self._folder),
            games=tuple(
                Game.of(places[record.task_id], record, manifest) for record in self._run.records
            ),
            rows=tuple(self._run.rows),
            status=status,
            ended_at=None if status == RUNNING else now,
            seconds=time.monotonic() - self._clock,
        )
