"""A run on disk, as everybody reads it: reports, comparisons, exports, the viewer, Python.

Whatever is remembered about a run belongs to that run alone: `refresh` notices that a
folder was replaced by another run of the same name, and starts over.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from operator import eq
from pathlib import Path
from typing import Any, TypeVar, overload

from agentquest.errors import AgentQuestError, DataError, UserError, explain
from agentquest.metrics.measured import collect_measured, recall_table, recall_values
from agentquest.metrics.report import Report, build_report
from agentquest.metrics.rows import EpisodeRow, Spent, plain_row, total
from agentquest.metrics.summary import RunFigures, Standing, headline_figures
from agentquest.metrics.table import Metric
from agentquest.records.episode import EpisodeRecord, LiveEvent
from agentquest.records.manifest import Manifest, MeasuredMetrics
from agentquest.records.usage import Price
from agentquest.store.folder import EPISODES, MANIFEST, METRICS, RunFolder
from agentquest.store.index import RowIndex, identify, stamp_figures
from agentquest.store.lines import EpisodeAppender, Span, read_contents, read_record
from agentquest.store.live import count_playing, read_live
from agentquest.store.results import summary_section, write_results
from agentquest.words import counted

T = TypeVar("T")


class StoredRun:
    """A run, finished or not. What is large is read when it is first asked for.

    `table` is that of the process that plays the run; everybody else takes the saved values
    of its own metrics. `verify` checks every line of the episodes, for whoever decides what
    is still to play. `price` is for calls that had none when they were made, instead of the one
    that the run has by now.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str | None = None,
        table: tuple[Metric, ...] | None = None,
        verify: bool = False,
        price: Price | None = None,
    ) -> None:
        self.path = path
        self.folder = RunFolder(path)
        self.name = name or self.folder.name
        self.reason: str | None = None
        """Why the run stopped early; None if nothing made it."""
        self._given_table = table
        self._verify = verify
        self._given_price = price
        # What was made of the rows, each with the revision of the index that it was made of.
        self._made: dict[str, tuple[int, Any]] = {}
        self._identity = self._identify()
        self.manifest: Manifest = self.folder.manifest()

    def refresh(self) -> None:
        """Read what has been recorded since; begin anew if this is another run by now."""
        identity = self._identify()
        if identity != self._identity:
            self._identity = identity
            self.manifest = self.folder.manifest()
            for cached in ("table", "_index"):
                self.__dict__.pop(cached, None)
            self._made = {}
        self._index.refresh()

    def _identify(self) -> list[Any]:
        """What differs between two runs, and changes if the manifest or a metric does."""
        return identify(self.path, MANIFEST, *([] if self._given_table else [METRICS]))

    @cached_property
    def table(self) -> tuple[Metric, ...]:
        """The run's metrics: the built-in ones and its own."""
        if self._given_table is not None:
            return self._given_table
        measured = self.folder.measured() if self.manifest.metrics else MeasuredMetrics()
        return recall_table(self.manifest, measured)

    @cached_property
    def _index(self) -> RowIndex:
        with _blame(self.path):
            table = self._given_table or [one for one in self.table if not one.path]
            index = RowIndex(self.path, table, verify=self._verify)
            index.refresh()
            return index

    @property
    def episodes(self) -> Path:
        """The file of the records."""
        return self.path / EPISODES

    @property
    def rows(self) -> list[EpisodeRow]:
        """One row for each episode played, the attempt that counts, in the order of the run:
        trial by trial, tasks as the manifest lists them, then those that it does not list."""
        return list(self._make("rows", self._order_rows))

    @property
    def records(self) -> "Records":
        """The records of the same episodes, each read from disk when it is asked for."""
        return Records(self, self.rows)

    def record(self, key: str) -> EpisodeRecord:
        """The whole record of an episode; raises UserError if there is none."""
        return read_record(self.path / EPISODES, self.span(key))

    def span(self, key: str) -> Span:
        """Where the record is; another record, even of the same key, has another span."""
        span = self._index.find(key)
        if span is None:
            raise UserError(f"{self.name} has no episode {key!r}")
        return span

    @property
    def report(self) -> Report:
        """Everything that reports say, with intervals; `reports.render` lays it out."""
        return self._build_report(running=self.state == "running")

    def _build_report(self, running: bool) -> Report:
        return self._make(
            "report while running" if running else "report",
            lambda: build_report(
                self.manifest, self.rows, self.table, self.damage, running, self.replaced
            ),
        )

    @property
    def summary(self) -> dict[str, Any]:
        """The figures over all scored episodes, as results.json has them."""
        return summary_section(self.report, self.state == "running")

    @property
    def figures(self) -> RunFigures:
        """What a list of runs shows."""
        return self._make(
            "figures", lambda: headline_figures(self.rows, self.damage, self.replaced)
        )

    @property
    def damage(self) -> str:
        """What is wrong with the file of episodes, in a sentence; empty if nothing is."""
        return self._index.damage

    @property
    def state(self) -> str:
        """`complete`, `running`, `pending` (all were played, some have no score) or `stopped`."""
        scored = sum(row.scored for row in self.rows)
        return find_state(self.path, self.manifest, len(self.rows), scored)

    @property
    def standing(self) -> Standing | None:
        """How far it is, while it is being played; None for any other run."""
        return find_standing(self.path, self.manifest, self.state, self.figures)

    @property
    def pending(self) -> int:
        """How many episodes have no score yet."""
        return max(0, self.manifest.requested - sum(row.scored for row in self.rows))

    @property
    def owed(self) -> int:
        """The old name of `pending`."""
        warnings.warn("RunResult.owed is now called pending", DeprecationWarning, stacklevel=2)
        return self.pending

    @property
    def complete(self) -> bool:
        """Whether every episode has a score."""
        return self.pending == 0

    @property
    def spent(self) -> tuple[float, int]:
        """What all attempts at all episodes cost, as far as known, and how many of their calls
        had no cost."""
        every = total([self.replaced, *(row.spent for row in self.rows)])
        return every.cost or 0.0, every.unpriced_calls

    @property
    def replaced(self) -> Spent:
        """What the attempts took that were played again, at the price that is known now."""
        return self._index.replaced.at(self._price)

    @property
    def _price(self) -> Price | None:
        return self._given_price or self.manifest.price

    def live(self, offset: int = 0) -> tuple[list[LiveEvent], int]:
        """Events of the episodes in progress from `offset` on, and where to continue."""
        return read_live(self.path, offset)

    def to_rows(self) -> list[dict[str, Any]]:
        """One plain row per episode, for `pandas.DataFrame(rows)` or a CSV file.

        Every metric of the run is a column. What is not known is None.
        """
        return [plain_row(row) for row in self.rows]

    @contextmanager
    def open_for_writing(self, packed: bool = False) -> Iterator["RunWriter"]:
        """Hold the run's lock; `packed` lines take a tenth of the space."""
        with self.folder.lock(packed) as episodes:
            # Another process may have played some of them before we had the lock.
            self.refresh()
            self._index.hold()
            try:
                yield RunWriter(episodes, self._index)
            finally:
                self.save_figures(stamp_figures(self.path))
                self._index.release()

    def save_results(self, running: bool = False) -> None:
        """Write results.json, and metrics.json where the run has metrics of its own. The caller
        holds the run's lock, and says whether it goes on."""
        rows = self.rows
        if self.manifest.metrics:
            self.folder.write_measured(collect_measured(rows, self.table))
        report = self._build_report(running=False)  # the file may outlive this process
        with _blame(self.episodes):
            write_results(self.path, report, rows, self._read, running)

    def _read(self, rows: Sequence[EpisodeRow]) -> Iterable[bytes]:
        spans = [span for row in rows if (span := self._index.find(row.key))]
        return read_contents(self.path / EPISODES, spans) if spans else ()

    def save_figures(self, stamp: list[Any]) -> None:
        """Keep the figures with the index, for lists (see `load_figures`)."""
        self._index.flush()
        self._index.save_figures(stamp, self.figures)

    def __repr__(self) -> str:
        scored = [row for row in self.rows if row.scored]
        won = sum(row.success for row in scored)
        pending = f", {self.pending} pending" if self.pending else ""
        episodes = counted(len(scored), "episode")
        return f"<RunResult {self.path}: {won} of {episodes} solved{pending}>"

    def _order_rows(self) -> list[EpisodeRow]:
        places = {task: place for place, task in enumerate(self.manifest.task_ids)}

        def order(row: EpisodeRow) -> tuple[int, int]:
            place = places.get(row.task_id)
            return (self.manifest.trials, 0) if place is None else (row.trial, place)

        rows = (recall_values(row, self.table) for row in sorted(self._index.rows, key=order))
        price = self._price
        return [
            replace(row, spent=row.spent.at(price)) if row.spent.unpriced_calls else row
            for row in rows
        ]

    def _make(self, what: str, make: Callable[[], T]) -> T:
        """Something made of the rows, made again only when there are others."""
        revision = self._index.revision
        if what not in self._made or self._made[what][0] != revision:
            with _blame(self.path):
                self._made[what] = (revision, make())
        made: T = self._made[what][1]
        return made


@contextmanager
def _blame(path: Path) -> Iterator[None]:
    """Whatever else goes wrong is the run's fault, which may be anybody's: one error says so."""
    try:
        yield
    except (AgentQuestError, OSError):
        raise
    except Exception as error:
        raise DataError(f"{path} cannot be read: {explain(error)}") from error


class RunWriter:
    """Appends episodes to a run, and their rows to its index."""

    def __init__(self, episodes: EpisodeAppender, index: RowIndex) -> None:
        self._episodes = episodes
        self._index = index

    def append(self, *records: EpisodeRecord) -> None:
        """Write one whole line each and have them on disk before returning."""
        for record, span in self._episodes.append(*records):
            self._index.add(record, span)


class Records(Sequence[EpisodeRecord]):
    """Records of a run, each read from disk when it is asked for."""

    def __init__(self, run: StoredRun, rows: Sequence[EpisodeRow]) -> None:
        self._run = run
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    @overload
    def __getitem__(self, place: int) -> EpisodeRecord: ...

    @overload
    def __getitem__(self, place: slice) -> "Records": ...

    def __getitem__(self, place: int | slice) -> "EpisodeRecord | Records":
        if isinstance(place, slice):
            return Records(self._run, self._rows[place])
        return self._run.record(self._rows[place].key)


def find_state(path: Path, manifest: Manifest, episodes: int, scored: int) -> str:
    """What `StoredRun.state` says of a run with so many episodes and scores."""
    if scored >= manifest.requested:
        return "complete"
    if RunFolder(path).in_use:
        return "running"
    return "pending" if episodes >= manifest.requested else "stopped"


def find_standing(
    path: Path, manifest: Manifest, state: str, figures: RunFigures
) -> Standing | None:
    """How far a run is; None unless its state is `running`."""
    if state != "running":
        return None
    return Standing.count(manifest.requested, figures.scored, figures.solved, count_playing(path))
