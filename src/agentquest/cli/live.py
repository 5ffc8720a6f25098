"""Showing a run in progress: a live panel in a terminal, plain lines elsewhere, always a log."""

import logging
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from agentquest.files import open_regular
from agentquest.metrics.rows import total
from agentquest.metrics.summary import Standing
from agentquest.records.episode import EpisodeRecord, Failure, Step
from agentquest.records.messages import Message
from agentquest.records.outcome import MEANINGS, End
from agentquest.running.events import RunEvents
from agentquest.running.run import Run
from agentquest.running.spec import EpisodeSpec
from agentquest.safe_text import VisibleLines, one_line, visible
from agentquest.words import counted, duration, plural

_LINE_EVERY_S = 10.0
_RATE_WINDOW_S = 15.0
_MOST_NAMED = 6
_MOST_CRASHES, _CRASH_LINES = 5, 7
_SLOWEST = 3
_MODELS = logging.getLogger("agentquest.llms")


@dataclass
class Playing:
    """An episode in progress: where, since when, what for and how far."""

    worker: str = ""
    goal: str = ""
    steps: int = 0
    since: float = field(default_factory=time.monotonic)

    def line(self) -> str:
        """How long it has taken, its step and its goal."""
        where = f" on {self.worker}" if self.worker else ""
        taken = duration(time.monotonic() - self.since)
        return f"{taken} at step {self.steps + 1}{where}: {one_line(self.goal) or 'starting'}"


@dataclass
class Tally:
    """The figures of the live view, updated as steps and episodes finish.

    Those of a resumed run include its earlier parts; only times are those of this part.
    """

    total: int
    won: int = 0
    scored: int = 0
    unscored: Counter[End] = field(default_factory=Counter)
    active: dict[str, Playing] = field(default_factory=dict)
    steps: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    scored_cost: float = 0.0  # of the scored episodes alone
    retries: int = 0
    _since: float = field(default_factory=time.monotonic)
    _recent: deque[float] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self._scored_before = self.scored

    @classmethod
    def resume(cls, run: Run) -> "Tally":
        """The figures of a run, with those of its parts before."""
        scored = [row for row in run.rows if row.scored]
        spent = total(row.spent for row in run.rows)
        return cls(
            len(run.specs),
            sum(row.success for row in scored),
            len(scored),
            steps=sum(row.steps for row in run.rows),
            calls=spent.calls,
            tokens=spent.prompt_tokens + spent.completion_tokens,
            cost=run.stored.spent[0],
            scored_cost=sum(row.spent.cost or 0.0 for row in scored),
        )

    def step(self, key: str, step: Step) -> None:
        """Count a step and the model calls that it took."""
        self.steps += 1
        if key in self.active:
            self.active[key].steps = step.index
        for call in step.calls:
            self.calls += 1
            if call.usage is not None:
                self.tokens += call.usage.prompt_tokens + call.usage.completion_tokens
            self.cost += call.cost or 0.0
            self.retries += call.attempts - 1
            self._recent.append(time.monotonic())

    def finish(self, key: str, record: EpisodeRecord) -> None:
        """Count an episode that has ended; one without a score is no progress."""
        self.active.pop(key, None)
        if record.scored:
            self.scored += 1
            self.won += record.success
            self.scored_cost += sum(call.cost or 0.0 for call in record.calls)
        else:
            self.unscored[record.end] += 1

    def calls_per_second(self) -> float:
        """Recent model calls per second; 0 until there are enough to tell."""
        now = time.monotonic()
        while self._recent and now - self._recent[0] > _RATE_WINDOW_S:
            self._recent.popleft()
        span = now - self._recent[0] if self._recent else 0.0
        return len(self._recent) / span if span > 0.5 else 0.0

    def line(self) -> str:
        """All figures that are not zero, on one line."""
        parts = [*self._standing(), counted(self.steps, "step")]
        if rate := self.calls_per_second():
            parts.append(f"{rate:.1f} calls/s")
        if self.tokens:
            parts.append(counted(self.tokens, "token"))
        if self.cost:
            parts.append(self._cost())
        if self.retries:
            parts.append(counted(self.retries, "retry"))
        parts += [
            f"{number} without a score ({MEANINGS[end]})"
            for end, number in list(self.unscored.items())
        ]
        return " · ".join([*parts, self._times()])

    def slowest(self, most: int) -> list[str]:
        """The episodes that have been played the longest, a line each."""
        # Copied, because this is drawn in a thread of its own.
        playing = sorted(self.active.copy().values(), key=attrgetter("since"))
        return [one.line() for one in playing[:most]]

    def _cost(self) -> str:
        """So far, and for the whole run if its other episodes cost as much as the scored ones."""
        text = f"cost {self.cost:.4f}"
        if 0 < self.scored < self.total and self.scored_cost:
            projected = self.cost + self.scored_cost / self.scored * (self.total - self.scored)
            text += f" (about {projected:.4f} for all)"
        return text

    def _times(self) -> str:
        elapsed = time.monotonic() - self._since
        text = f"elapsed {duration(elapsed)}"
        if (now := self.scored - self._scored_before) and self.scored < self.total:
            left = elapsed / now * (self.total - self.scored)
            text += f", about {duration(left)} left"
        return text

    def _standing(self) -> list[str]:
        """Counts and what they leave open; a rate only once there is nothing left to play."""
        if self.total and self.scored == self.total:
            return [f"success {self.won / self.total:.1%} ({self.won}/{self.total})"]
        found = Standing.count(self.total, self.scored, self.won, len(self.active))
        solved, not_solved, _, waiting = found.counts
        return [solved, not_solved, self._active(), waiting, found.outlook]

    def _active(self) -> str:
        names = [one.worker for one in self.active.copy().values()]
        workers = Counter(names)
        if len(workers) > _MOST_NAMED:  # then grouped by node
            workers = Counter(name.rpartition("@")[2] for name in names)
        named = ", ".join(f"{name}: {workers[name]}" for name in sorted(workers) if name)
        return f"{len(names)} playing{f' ({named})' if named else ''}"


class LiveView(RunEvents):
    """Use as a context manager around the run."""

    def __init__(self, tally: Tally, log_file: Path, debug: bool) -> None:
        self._tally = tally
        self._trouble: Callable[[], str] = lambda: ""  # before Live, which draws when it is made
        self._debug = debug
        self._prompts_shown: set[str] = set()
        self._console = Console(stderr=True)
        self._log = open_log(log_file, debug)
        for handler in self._log.handlers:  # why a call is repeated only the model's client knows
            _MODELS.addHandler(handler)
        _MODELS.setLevel(logging.INFO)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            console=self._console,
        )
        self._bar = self._progress.add_task("episodes", total=tally.total)
        self._counting = Lock()  # so that a frame, drawn in another thread, has whole counts
        self._live = (
            Live(console=self._console, refresh_per_second=4, get_renderable=self._render)
            if sys.stderr.isatty() and not debug
            else None
        )
        self._crashes: set[str] = set()
        self._over = Event()
        self._lines = Thread(target=self._say_regularly, name="progress", daemon=True)

    def _render(self) -> Group:
        with self._counting:
            self._progress.update(self._bar, completed=self._tally.scored)
            bar, figures = self._progress.get_renderable(), self._tally.line()
        lines = filter(None, [figures, visible(self._trouble())])
        slow = [
            Text(f"{'' if place else 'slowest':7} {line}", no_wrap=True)
            for place, line in enumerate(self._tally.slowest(_SLOWEST))
        ]
        return Group(bar, *map(Text, lines), *slow)

    def noted(self, text: str) -> None:
        """Show and log a message about the run as a whole."""
        self._log.warning(text)
        self._console.print(visible(text), markup=False, highlight=False, style="yellow")

    def __enter__(self) -> "LiveView":
        if self._live:
            self._live.start()
        else:
            self._lines.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            self._live.stop()
        else:
            self._over.set()
            self._lines.join()
            self._say()
        for handler in self._log.handlers:
            _MODELS.removeHandler(handler)
            handler.close()
        _MODELS.setLevel(logging.NOTSET)

    def playing(self, trouble: Callable[[], str]) -> None:
        self._trouble = trouble

    def started(self, spec: EpisodeSpec, worker: str) -> None:
        """Show the episode as one that is being played."""
        self._tally.active[spec.key] = Playing(worker)
        self._log.info("start %s%s", spec.key, f" on {worker}" if worker else "")

    def introduced(self, spec: EpisodeSpec, goal: str) -> None:
        """Show what the episode is about."""
        self._tally.active.setdefault(spec.key, Playing()).goal = goal
        self._log.debug("%s is to %s", spec.key, one_line(goal))

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        """Count the step; in debug mode also show its prompt and answer."""
        self._tally.step(spec.key, step)
        if attempts := sum(call.attempts - 1 for call in step.calls):
            retries = counted(attempts, "retry")
            self._log.warning("%s step %d: answered after %s", spec.key, step.index, retries)
        self._log.debug("%s step %d: %s (%s)", spec.key, step.index, step.action, step.how)
        if self._debug:
            text = visible(debug_text(spec, step, prompt, self._prompts_shown))
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        """Move the bar on, and log how the episode ended and what went wrong."""
        with self._counting:
            self._tally.finish(spec.key, record)
        steps = counted(len(record.steps), "step")
        self._log.info("end %s: %s after %s", spec.key, record.end.value, steps)
        if record.error is not None:
            self._log.warning("%s: %s", spec.key, record.error)
            self._show_crash(record.error)

    def _show_crash(self, error: Failure) -> None:
        """The last lines of a traceback, once for each place where something crashed."""
        place = error.traceback.rstrip().rpartition("\n")[0]
        if place and place not in self._crashes and len(self._crashes) < _MOST_CRASHES:
            self._crashes.add(place)
            lines = error.traceback.rstrip().splitlines()[-_CRASH_LINES:]
            self.noted("\n  ".join([f"the {error.source} crashed: {error}", *lines]))

    def _say_regularly(self) -> None:
        """At fixed intervals, so that a run with long episodes is seen to make progress."""
        while not self._over.wait(_LINE_EVERY_S):
            self._say()

    def _say(self) -> None:
        total = self._tally.total
        with self._counting:
            line = f"{self._tally.scored}/{total} {plural(total, 'episode')} · {self._tally.line()}"
        if slow := self._tally.slowest(_SLOWEST):
            line += f" · slowest {'; '.join(slow)}"
        if trouble := visible(self._trouble()):
            line += f" · {trouble}"
        self._log.info(line)
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def open_log(file: Path, debug: bool) -> logging.Logger:
    """A separate logger per run; nothing is configured globally.

    Single steps are logged in debug mode only: the records have them, and a line for
    each would be one of the larger costs of a step.
    """
    level = logging.DEBUG if debug else logging.INFO
    log = logging.Logger(f"agentquest.run.{file.parent.name}", level)
    handler = _LogFile(file)
    handler.setFormatter(VisibleLines("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    return log


class _LogFile(logging.FileHandler):
    def _open(self) -> Any:
        file = Path(self.baseFilename)
        return open_regular(file, "a", encoding="utf-8", errors="backslashreplace")


def debug_text(spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...], shown: set[str]) -> str:
    """One step in full: the prompt, the reply, and the result.

    A system prompt is printed once; `shown` has those that were.
    """
    rule = "─" * 72
    lines = [rule, f"{spec.key} · step {step.index}"]
    for message in prompt:
        if message.role == "system" and message.content in shown:
            lines.append("── prompt (system): as above")
            continue
        lines += [f"── prompt ({message.role})", message.content]
        if message.role == "system":
            shown.add(message.content)
    if step.reasoning:
        lines += ["── reasoning", step.reasoning]
    lines += ["── raw reply", step.reply]
    lines += [f"── action ({step.how}, {'valid' if step.valid else 'invalid'}): {step.action}"]
    lines += ["── observation", step.observation, f"── progress {step.progress:.2f}"]
    return "\n".join(lines)
