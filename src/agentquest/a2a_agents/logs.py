"""The log folder of an assessment, written as games finish.

    logs/run_YYYYMMDD_HHMMSS/
      run_summary.json  run_report.txt  game_000.json  game_000_actions.jsonl …
      config.yaml  manifest.json  episodes.jsonl       as every run of the evaluator

A killed run keeps every game that was over: the summary is rewritten every few
seconds, the games at once, and each file is whole or absent.
"""

import asyncio
import json
import time
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from agentquest.a2a_agents.figures import Game, action_lines, game_document
from agentquest.a2a_agents.report_text import report_text
from agentquest.a2a_agents.results import Finding, Meta, sorted_games, summary_document
from agentquest.errors import UserError
from agentquest.records.episode import EpisodeRecord
from agentquest.records.run_directory import EpisodeLog, RunDirectory, to_json, write_atomically
from agentquest.reports.results_json import results_document

SUMMARY = "run_summary.json"
REPORT = "run_report.txt"
_SUMMARY_EVERY_S = 5.0


class AssessmentLog:
    """Use as a context manager; leaving it early marks the run as cancelled."""

    def __init__(self, root: Path, meta: Meta) -> None:
        self.folder = _new_folder(root)
        self.run_id = self.folder.name
        self._meta = meta
        self._games: list[Game] = []
        self._writing = asyncio.Lock()
        self._clock = time.monotonic()
        self._summarised_at = self._clock
        self._started_at = _now()
        self._directory = RunDirectory(self.folder)
        self._episodes: EpisodeLog | None = None
        self._finished = False

    def __enter__(self) -> "AssessmentLog":
        config = self._meta.request.config.model_dump(mode="json")
        self._directory.create(yaml.safe_dump(config, sort_keys=False), self._manifest())
        self._episodes = self._directory.locked().__enter__()
        self._write_summary(self._finding("running"))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._episodes is not None
        self._episodes.__exit__(kind, error, trace)
        if not self._finished:
            self.finish("cancelled")

    async def save(self, game: Game, record: EpisodeRecord) -> None:
        """On disk when this returns."""
        async with self._writing:
            self._games.append(game)
            await asyncio.to_thread(self._write_game, game, record)
            if time.monotonic() - self._summarised_at > _SUMMARY_EVERY_S:
                await asyncio.to_thread(self._write_summary, self._finding("running"))
                self._summarised_at = time.monotonic()

    def finish(self, status: str) -> Finding:
        self._finished = True
        finding = self._finding(status, _now())
        self._write_summary(finding)
        records = [game.record for game in finding.games]
        self._directory.write_results(results_document(records, self._manifest()))
        return finding

    def _write_game(self, game: Game, record: EpisodeRecord) -> None:
        assert self._episodes is not None
        self._episodes.append(record)
        name = f"game_{game.index:03d}"
        lines = [json.dumps(line, ensure_ascii=False) for line in action_lines(record)]
        turns = "".join(f"{line}\n" for line in lines)
        write_atomically(self.folder / f"{name}_actions.jsonl", turns)
        write_atomically(self.folder / f"{name}.json", to_json(game_document(game)))

    def _write_summary(self, finding: Finding) -> None:
        write_atomically(self.folder / SUMMARY, to_json(summary_document(finding)))
        write_atomically(self.folder / REPORT, report_text(finding))

    def _finding(self, status: str, ended_at: str | None = None) -> Finding:
        return Finding(
            run_id=self.run_id,
            folder=str(self.folder),
            meta=self._meta,
            games=sorted_games(self._games),
            status=status,
            started_at=self._started_at,
            ended_at=ended_at,
            seconds=time.monotonic() - self._clock,
        )

    def _manifest(self) -> dict[str, Any]:
        """What the evaluator's reports want to know of a run."""
        meta, config = self._meta, self._meta.request.config
        return {
            "schema_version": 1,
            "run_id": self.run_id,
            "created_at": self._started_at,
            "protocol": None,
            "comparable_with": [],
            "benchmark": config.benchmark,
            "agent": meta.agent,
            "agent_url": meta.request.agent_url,
            "model": None,
            "provenance": meta.provenance,
            "versions": meta.versions,
            "config_hash": meta.config_hash,
            "data_hash": meta.data_hash,
            "task_type_numbers": meta.type_numbers,
            "config": {**config.model_dump(mode="json"), "trials": 1},
            "notes": meta.all_notes,
            "task_ids": meta.tasks,
            "trials": 1,
        }


def _new_folder(root: Path) -> Path:
    """A folder nobody else has, named by the local time."""
    name = datetime.now().strftime("run_%Y%m%d_%H%M%S")
    for number in range(1, 10_000):
        folder = root / (name if number == 1 else f"{name}_{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise UserError(f"cannot make the log folder {folder}: {error.strerror}") from None
        return folder
    raise UserError(f"{root} holds too many runs named {name}")


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
