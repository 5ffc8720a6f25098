"""Showing a run while it goes: a live panel on a terminal, plain lines elsewhere, a log always."""

import logging
import sys
import time
from collections import Counter, deque
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from agentquest.metrics.statistics import wilson
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.reports.safe_text import visible
from agentquest.running.many_episodes import Job, Watcher

_LINE_EVERY_S = 10.0
_RATE_WINDOW_S = 15.0


class Tally:
    """The figures a viewer wants to see, counted as they come."""

    def __init__(self, total: int, already_won: int, already_scored: int) -> None:
        self.total = total
        self.won = already_won
        self.scored = already_scored
        self.unscored: Counter[str] = Counter()
        self.active: dict[str, int] = {}
        self.steps = 0
        self.calls = 0
        self.tokens = 0
        self.cost = 0.0
        self.retries = 0
        self._recent: deque[float] = deque()

    def step(self, job: Job, step: Step) -> None:
        self.active[job.key] = step.index
        self.steps += 1
        for call in step.calls:
            self.calls += 1
            self.tokens += (call.prompt_tokens or 0) + (call.completion_tokens or 0)
            self.cost += call.cost or 0.0
            self.retries += call.attempts - 1
            self._recent.append(time.monotonic())

    def finish(self, job: Job, record: EpisodeRecord) -> None:
        self.active.pop(job.key, None)
        if record.scored:
            self.scored += 1
            self.won += record.success
        else:
            self.unscored[record.end.value] += 1

    def calls_per_second(self) -> float:
        now = time.monotonic()
        while self._recent and now - self._recent[0] > _RATE_WINDOW_S:
            self._recent.popleft()
        span = now - self._recent[0] if self._recent else 0.0
        return len(self._recent) / span if span > 0.5 else 0.0

    def line(self) -> str:
        rate = wilson(self.won, self.scored)
        success = (
            "no game scored yet"
            if rate is None
            else f"success {rate.value:.1%} [{rate.low:.1%}–{rate.high:.1%}] "
            f"({self.won}/{self.scored})"
        )
        parts = [success, f"{len(self.active)} active", f"{self.steps} steps"]
        if self.calls:
            parts += [f"{self.calls_per_second():.1f} calls/s", f"{self.tokens:,} tokens"]
        if self.cost:
            parts.append(f"cost {self.cost:.4f}")
        if self.retries:
            parts.append(f"{self.retries} retries")
        parts += [f"{number} {cause}" for cause, number in self.unscored.items()]
        return " · ".join(parts)


class LiveView(Watcher):
    """Use as a context manager around the run."""

    def __init__(self, tally: Tally, log_file: Path, debug: bool) -> None:
        self._tally = tally
        self._debug = debug
        self._console = Console(stderr=True)
        self._log = open_log(log_file, debug)
        self._last_line = time.monotonic()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self._console,
        )
        self._bar = self._progress.add_task("episodes", total=tally.total)
        self._live = (
            Live(console=self._console, refresh_per_second=4, get_renderable=self._render)
            if sys.stderr.isatty() and not debug
            else None
        )

    def _render(self) -> Group:
        return Group(self._progress, Text(self._tally.line()))

    def __enter__(self) -> "LiveView":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            self._live.stop()
        else:
            self._say()
        for handler in self._log.handlers:
            handler.close()

    def started(self, job: Job) -> None:
        self._tally.active[job.key] = 0
        self._log.info("start %s", job.key)

    def stepped(self, job: Job, step: Step) -> None:
        self._tally.step(job, step)
        self._log.debug("%s step %d: %s (%s)", job.key, step.index, step.action, step.how)
        if self._debug:
            text = visible(debug_text(job, step))
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def finished(self, job: Job, record: EpisodeRecord) -> None:
        self._tally.finish(job, record)
        done = self._tally.scored + sum(self._tally.unscored.values())
        self._progress.update(self._bar, completed=done)
        self._log.info("end %s: %s after %d steps", job.key, record.end.value, len(record.steps))
        if record.error is not None:
            self._log.warning("%s: %s: %s", job.key, record.error.kind, record.error.message)
        if self._live is None and time.monotonic() - self._last_line > _LINE_EVERY_S:
            self._say()

    def _say(self) -> None:
        self._last_line = time.monotonic()
        done = self._tally.scored + sum(self._tally.unscored.values())
        line = f"{done}/{self._tally.total} episodes · {self._tally.line()}"
        self._log.info(line)
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def open_log(file: Path, debug: bool) -> logging.Logger:
    """A logger of its own for each run; nothing is set up globally.

    Single steps are logged in debug mode only: the records have them, and a line for
    each would be one of the larger costs of a step.
    """
    level = logging.DEBUG if debug else logging.INFO
    log = logging.Logger(f"agentquest.run.{file.parent.name}", level)
    handler = logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    return log


def debug_text(job: Job, step: Step) -> str:
    """One step in full: what the model was sent, what it said, what came of it."""
    rule = "─" * 72
    lines = [rule, f"{job.key} · step {step.index}"]
    for message in step.prompt:
        lines += [f"── prompt ({message.role})", message.content]
    if step.reasoning:
        lines += ["── reasoning", step.reasoning]
    lines += ["── raw reply", step.reply]
    lines += [f"── action ({step.how}, {'valid' if step.valid else 'invalid'}): {step.action}"]
    lines += ["── observation", step.observation, f"── progress {step.progress:.2f}"]
    return "\n".join(lines)
