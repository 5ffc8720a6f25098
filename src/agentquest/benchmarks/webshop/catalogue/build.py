"""Turning the official files into a catalogue folder, with bounded memory.

The parent reads the files and keeps order; batches are prepared by workers on
all cores (in process when the data is small), and come back in order. The
folder is built under a temporary name and renamed when it is whole, so a build
that was stopped or that raced another one does no harm. It is sealed before that,
so that damage is noticed later.
"""

import os
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import SimpleQueue

from agentquest.benchmarks.webshop.catalogue.build_worker import (
    ProductBatch,
    RawProduct,
    Worker,
    prepare,
)
from agentquest.benchmarks.webshop.catalogue.columns import Columns
from agentquest.benchmarks.webshop.catalogue.integrity import seal, sync
from agentquest.benchmarks.webshop.catalogue.json_stream import elements, members
from agentquest.benchmarks.webshop.catalogue.products import usable_asin
from agentquest.benchmarks.webshop.catalogue.tables import KeyedTexts, RowsWriter
from agentquest.benchmarks.webshop.search.index_build import IndexWriter
from agentquest.errors import DataError

Progress = Callable[[int, int], None]

BATCH = 500
SMALL = 32 << 20  # up to this size of file, starting workers costs more than it saves


@dataclass(frozen=True)
class DataFiles:
    """The official files of one catalogue."""

    items: Path
    instructions: Path
    human: Path | None = None
    num_products: int | None = None

    @property
    def present(self) -> list[Path]:
        """Those of the files that the data folder has."""
        return [path for path in (self.items, self.instructions, self.human) if path]


def build(files: DataFiles, target: Path, progress: Progress | None = None) -> None:
    """Build the catalogue of `files` at `target`, whole or not at all."""
    _remove_leftovers(target)
    scratch = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        scratch.mkdir(parents=True)
        _fill(files, scratch, progress or _silent)
        seal(scratch)
        try:
            scratch.rename(target)
            sync(target.parent)
        except OSError:
            if not target.is_dir():  # else another process was first, with the same content
                raise
    except OSError as error:
        raise DataError(f"{target}: the catalogue cannot be written ({error})") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def put_away(target: Path) -> None:
    """Take a damaged catalogue out of the way; who has it open keeps what they have."""
    aside = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        target.rename(aside)
    except FileNotFoundError:
        return  # another process was first
    except OSError as error:
        raise DataError(f"{target}: the damaged catalogue cannot be removed ({error})") from error
    shutil.rmtree(aside, ignore_errors=True)


def _silent(done: int, total: int) -> None:
    """No progress is wanted."""


def _remove_leftovers(target: Path) -> None:
    """Remove what builds of processes that no longer run have left behind."""
    for path in target.parent.glob(f"{target.name}.*.tmp"):
        pid = path.suffixes[-2].lstrip(".")
        if pid.isdigit() and int(pid) != os.getpid() and not _runs(int(pid)):
            shutil.rmtree(path, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _fill(files: DataFiles, folder: Path, progress: Progress) -> None:
    size = files.items.stat().st_size
    total = size + size // 4  # inverting the index is about a fifth of the work
    rows, index, columns = RowsWriter(folder, "rows"), IndexWriter(folder), Columns()

    def on_read(position: int) -> None:
        progress(min(position, size), total)

    for batch in _prepared(_raw_products(files, folder, on_read), size > SMALL):
        rows.extend(batch.rows)
        index.add(batch.terms)
        columns.add(batch.facts)
    rows.close()
    ranks = columns.save(folder)
    index.finish(ranks, lambda part, parts: progress(size + (total - size) * part // parts, total))
    for scratch in folder.glob("joined_*"):
        scratch.unlink()
    progress(total, total)


def _raw_products(
    files: DataFiles, folder: Path, on_read: Callable[[int], None]
) -> Iterator[RawProduct]:
    listings = KeyedTexts(folder, "joined_listings", members(files.instructions))
    human = KeyedTexts(folder, "joined_human", members(files.human) if files.human else ())
    seen: set[str] = set()
    entries = islice(elements(files.items), files.num_products)
    for position, (record, text, read) in enumerate(entries):
        asin = usable_asin(record, position)
        if asin is None or asin in seen:
            continue
        seen.add(asin)
        if position % BATCH == 0:
            on_read(read)
        yield text, listings.get(asin), human.get(asin)


def _prepared(products: Iterable[RawProduct], parallel: bool) -> Iterator[ProductBatch]:
    """The batches in order, prepared by one worker for each core."""
    stream = iter(products)
    batches = iter(lambda: list(islice(stream, BATCH)), [])
    if not parallel:
        yield from map(prepare, batches)
        return
    with ExitStack() as stack:
        count = os.cpu_count() or 1
        free: SimpleQueue[Worker] = SimpleQueue()
        for _ in range(count):
            worker = Worker()
            stack.callback(worker.close)
            free.put(worker)
        pool = ThreadPoolExecutor(count)
        # Cancelled first, then the workers end: after a failure nothing waits for the rest.
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        under_way: deque[Future[ProductBatch]] = deque()
        for batch in batches:
            under_way.append(pool.submit(_with_worker, free, batch))
            if len(under_way) > 2 * count:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()


def _with_worker(free: "SimpleQueue[Worker]", batch: list[RawProduct]) -> ProductBatch:
    worker = free.get()
    try:
        return worker.prepare(batch)
    finally:
        free.put(worker)
