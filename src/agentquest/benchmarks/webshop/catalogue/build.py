"""Turning the official files into a catalogue folder, with bounded memory.

The parent reads the files and hands batches to one worker per core (small data
is prepared in process), which parse, normalise and analyse them; results come back
in order. The folder is built under a temporary name and renamed when it is complete,
so an interrupted build, or one that races another, does no harm. It is sealed before
that, so that later damage is detected.

A worker is a plain child process that runs `serve_batches` on its standard input and
output: unlike multiprocessing, it needs no `if __name__ == "__main__"` in the user's
script.
"""

import json
import os
import pickle
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from agentquest.benchmarks.webshop.catalogue.integrity import seal
from agentquest.benchmarks.webshop.catalogue.json_stream import elements, members
from agentquest.benchmarks.webshop.catalogue.products import (
    LONGEST_ASIN,
    Product,
    read_product,
    usable_asin,
)
from agentquest.benchmarks.webshop.catalogue.tables import Columns, KeyedTexts, RowsWriter
from agentquest.benchmarks.webshop.search.index_build import (
    BuildProgress,
    IndexWriter,
    TermBatch,
    count_terms,
)
from agentquest.errors import DataError
from agentquest.platform import is_running, sync_folder
from agentquest.words import parse_whole_number

RawProduct = tuple[str, str, str]  # JSON of: product, listing, human (null where there is none)

BATCH = 500
SMALL = 32 << 20  # bytes; up to this file size, starting workers costs more than it saves


@dataclass(frozen=True)
class ProductBatch:
    """The prepared form of one batch of raw products."""

    rows: list[bytes]
    facts: list[dict[str, Any]]
    terms: TermBatch


def prepare(batch: list[RawProduct], sources: tuple[Path | None, ...]) -> ProductBatch:
    """Rows, columns and search terms of a batch; raises DataError for one it cannot read."""
    products = [
        read_product(json.loads(raw), json.loads(listing), json.loads(human), sources)
        for raw, listing, human in batch
    ]
    return ProductBatch(
        rows=[product.to_row() for product in products],
        facts=[_facts(product) for product in products],
        terms=count_terms(product.document for product in products),
    )


def _facts(product: Product) -> dict[str, Any]:
    """What the catalogue keeps of a product in columns."""
    return {
        "asin": product.asin,
        "low": product.prices[0],
        "high": product.prices[-1],
        "ranged": len(product.prices) > 1,
        "category": product.category,
        "query": product.query,
        "goals": product.goal_count,
        "instructed": product.instruction is not None,
        "listed": product.listed,
        "wishes": product.instruction_attributes,
        "human": [number for number, entry in enumerate(product.human) if entry.attributes],
    }


class BuildWorker:
    """A child process that prepares batches."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", f"from {__name__} import serve_batches; serve_batches()"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout

    def prepare(self, batch: list[RawProduct], sources: tuple[Path | None, ...]) -> ProductBatch:
        """Let the child prepare a batch; raises DataError with its reason, or if it has ended."""
        try:
            pickle.dump((batch, sources), self._input, protocol=5)
            self._input.flush()
            answer = pickle.load(self._output)
        except (BrokenPipeError, EOFError) as error:
            raise DataError("a worker process of the catalogue build ended early") from error
        if isinstance(answer, str):
            raise DataError(answer)
        assert isinstance(answer, ProductBatch)
        return answer

    def close(self) -> None:
        """End the child process."""
        self._process.kill()  # it holds nothing worth keeping
        self._process.wait()
        self._input.close()
        self._output.close()


def serve_batches() -> None:
    """Serve batches until the input ends; a DataError is answered as its text."""
    while True:
        try:
            given = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: ProductBatch | str
        try:
            answer = prepare(*given)
        except DataError as error:
            answer = str(error)
        pickle.dump(answer, sys.stdout.buffer, protocol=5)
        sys.stdout.buffer.flush()


@dataclass(frozen=True)
class DataFiles:
    """The official files of one catalogue."""

    items: Path
    instructions: Path
    human: Path | None = None
    num_products: int | None = None

    @property
    def paths(self) -> tuple[Path | None, ...]:
        """The files; None for one that the data folder lacks."""
        return self.items, self.instructions, self.human


def build(files: DataFiles, target: Path, progress: BuildProgress | None = None) -> None:
    """Build the catalogue of `files` at `target`, completely or not at all."""
    _remove_leftovers(target)
    scratch = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        scratch.mkdir(parents=True)
        _fill(files, scratch, progress or (lambda done, total: None))
        seal(scratch)
        try:
            scratch.rename(target)
            sync_folder(target.parent)
        except OSError:
            if not target.is_dir():  # else another process was first, with the same content
                raise
    except OSError as error:
        raise DataError(f"{target}: the catalogue cannot be written ({error})") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def put_away(target: Path) -> None:
    """Remove a damaged catalogue; processes that have it open keep their mapping."""
    aside = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        target.rename(aside)
    except FileNotFoundError:
        return  # another process was first
    except OSError as error:
        raise DataError(f"{target}: the damaged catalogue cannot be removed ({error})") from error
    shutil.rmtree(aside, ignore_errors=True)


def _remove_leftovers(target: Path) -> None:
    """Remove the unfinished folders of processes that no longer run."""
    for path in target.parent.glob(f"{target.name}.*.tmp"):
        pid = parse_whole_number(path.suffixes[-2].lstrip("."))
        if pid is not None and pid != os.getpid() and not is_running(pid):
            shutil.rmtree(path, ignore_errors=True)


def _fill(files: DataFiles, folder: Path, progress: BuildProgress) -> None:
    size = files.items.stat().st_size
    total = size + size // 4  # inverting the index is about a fifth of the work
    rows, index, columns = RowsWriter(folder, "rows"), IndexWriter(folder), Columns()

    def on_read(position: int) -> None:
        progress(min(position, size), total)

    for batch in _prepare_all(_raw_products(files, folder, on_read), files.paths, size > SMALL):
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
    listings = KeyedTexts(folder, "joined_listings", _by_asin(files.instructions))
    human = KeyedTexts(folder, "joined_human", _by_asin(files.human))
    seen: set[str] = set()
    entries = islice(elements(files.items), files.num_products)
    for position, (record, text, read) in enumerate(entries):
        asin = usable_asin(record, f"{files.items}: product {position}")
        if asin is None or asin in seen:
            continue
        seen.add(asin)
        if position % BATCH == 0:
            on_read(read)
        yield text, listings.get(asin) or "null", human.get(asin) or "null"


def _by_asin(path: Path | None) -> Iterator[tuple[str, str]]:
    """The entries of a file; without those under a key that is too long to be a product's, as one
    of a million characters would make the table of keys that wide."""
    entries = members(path) if path else ()
    return ((key, text) for key, text in entries if len(key) <= LONGEST_ASIN)


def _prepare_all(
    products: Iterable[RawProduct], sources: tuple[Path | None, ...], parallel: bool
) -> Iterator[ProductBatch]:
    """The batches in order, prepared by one worker for each core."""
    stream = iter(products)
    batches = iter(lambda: list(islice(stream, BATCH)), [])
    if not parallel:
        yield from (prepare(batch, sources) for batch in batches)
        return
    with ExitStack() as stack:
        count = os.cpu_count() or 1
        free: SimpleQueue[BuildWorker] = SimpleQueue()
        for _ in range(count):
            worker = BuildWorker()
            stack.callback(worker.close)
            free.put(worker)
        pool = ThreadPoolExecutor(count)
        # Cancelled first, then the workers end: after a failure nothing waits for the rest.
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        under_way: deque[Future[ProductBatch]] = deque()
        for batch in batches:
            under_way.append(pool.submit(_with_worker, free, batch, sources))
            if len(under_way) > 2 * count:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()


def _with_worker(
    free: "SimpleQueue[BuildWorker]", batch: list[RawProduct], sources: tuple[Path | None, ...]
) -> ProductBatch:
    worker = free.get()
    try:
        return worker.prepare(batch, sources)
    finally:
        free.put(worker)
