"""BM25 search over a memory-mapped index, with Lucene's numbers.

A term's weight is w = n·ln(1 + (N - df + ½)/(df + ½)) for n occurrences in the
query; a document gets w - w/(1 + factor) for it, in 32-bit arithmetic. The sum
is kept in 64 bits and rounded to 32; equal scores are ordered by ASIN.

Long lists of frequent words are the cost of a query. Terms are taken in order of
the most they can give. As soon as all that remains cannot lift a new document
into the best `limit`, only documents that are still in reach are looked up. The
bound is exact, so pruning never changes a ranking.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentquest.benchmarks.webshop.search.analysis import analyse

_LARGEST_IN_MEMORY = 20_000  # documents
_ROWS = 64
_WORTH_PRUNING = 30_000  # postings; fewer are read faster than thought about
_LIKELY = 0.5  # the best documents seldom have more than this share of what terms can give
_LOOKUP_COST = 8  # of looking a document up, in postings read
_SLACK = 1 + 1e-6  # scores that are equal in 32 bits may differ by less than this

Scores = NDArray[np.float64]
Array = NDArray[Any]


@dataclass(frozen=True)
class SmallIndex:
    """A small index, held in memory.

    With a few thousand documents the arithmetic of a query costs less than looking
    its terms up and deciding what to leave out. So terms are in a dictionary, what
    depends on a posting alone is precomputed, and every posting is added up. The
    numbers, and the order in which they are added, are those of the large index:
    rankings and scores are the same to the last bit.

    The postings of term n are those from `offsets[n]` to `offsets[n + 1]`.
    """

    numbers: dict[bytes, int]
    offsets: list[int]
    docs: NDArray[np.intp]
    divisors: NDArray[np.float32]  # 1 + factor, of each posting
    peaks: NDArray[np.float32]  # the largest of these, of each term
    idf: NDArray[np.float32]  # of each term
    ranks: NDArray[np.uint32]
    documents: int

    def search(self, terms: Mapping[str, int], limit: int) -> list[tuple[int, float]]:
        """The best documents for counted terms as (number, score), best first."""
        found = []
        for term, occurrences in terms.items():
            number = self.numbers.get(term.encode("utf-8", "surrogatepass"))
            if number is not None:
                weight = np.float32(occurrences) * self.idf[number]
                found.append((weight - weight / self.peaks[number], weight, number))
        if not found or limit < 1:
            return []
        found.sort(key=lambda each: -each[0])
        docs, gains = [], []
        for _, weight, number in found:
            start, end = self.offsets[number], self.offsets[number + 1]
            docs.append(self.docs[start:end])
            gains.append(weight - weight / self.divisors[start:end])
        # Adds in 64 bits and in this order: term by term, as the large index does.
        totals = np.bincount(np.concatenate(docs), np.concatenate(gains), self.documents)
        best = np.flatnonzero(totals)
        scores = totals[best].astype(np.float32)
        if len(best) > limit:
            at = len(best) - limit
            kept = np.flatnonzero(scores >= np.partition(scores, at)[at])
            best, scores = best[kept], scores[kept]
        order = np.lexsort((self.ranks[best], -scores))[:limit]
        return list(zip(best[order].tolist(), scores[order].tolist(), strict=True))


@dataclass(frozen=True)
class _Term:
    docs: Array
    codes: Array
    weight: np.float32
    most: float


class SearchIndex:
    """A finished index folder, opened for reading; safe to use from many threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        meta = json.loads((folder / "index.json").read_text("utf-8"))
        self.documents: int = meta["documents"]
        self._counted: int = meta["counted"]
        self._docs = map_array(folder / "docs.bin", np.uint32)
        self._codes = map_array(folder / "codes.bin", np.dtype(meta["codes"]))
        self._terms = map_array(folder / "terms.bin", np.uint8)
        self._offsets, self._term_offsets, self._peaks, self._ranks = (
            np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))
            for name in ("offsets", "term_offsets", "peaks", "ranks")
        )
        self._factors: NDArray[np.float32] = np.load(folder / "factors.npy")

    def __reduce__(self) -> tuple[type["SearchIndex"], tuple[Path]]:
        return SearchIndex, (self.folder,)

    def search(self, query: str, limit: int = 50) -> list[tuple[int, float]]:
        """The best documents for `query` as (number, score), best first."""
        counted = Counter(analyse(query))
        if self.documents <= _LARGEST_IN_MEMORY:
            return self._small.search(counted, limit)
        return self._search(counted, limit)

    @cached_property
    def _small(self) -> SmallIndex:
        text, ends = self._terms.tobytes(), self._term_offsets.tolist()
        frequencies = np.diff(self._offsets).tolist()
        return SmallIndex(
            numbers={text[ends[n] : ends[n + 1]]: n for n in range(len(ends) - 1)},
            offsets=self._offsets.tolist(),
            docs=self._docs.astype(np.intp),
            divisors=np.float32(1) + self._factors[self._codes],
            peaks=np.float32(1) + self._factors[self._peaks],
            idf=np.array([self._idf(frequency) for frequency in frequencies], np.float32),
            ranks=np.array(self._ranks),
            documents=self.documents,
        )

    def _search(self, counted: Counter[str], limit: int) -> list[tuple[int, float]]:
        terms = [self._term(term, n) for term, n in counted.items()]
        found = sorted((t for t in terms if t is not None), key=lambda t: -t.most)
        if not found or limit < 1:
            return []
        docs, scores = self._score(found, limit)
        final = scores.astype(np.float32)
        order = np.lexsort((self._ranks[docs], -final))[:limit]
        return [(int(docs[i]), float(final[i])) for i in order]

    def _term(self, term: str, occurrences: int) -> _Term | None:
        number = self._term_number(term.encode("utf-8", "surrogatepass"))
        if number is None:
            return None
        start, end = int(self._offsets[number]), int(self._offsets[number + 1])
        weight = np.float32(occurrences) * np.float32(self._idf(end - start))
        most = weight - weight / (np.float32(1) + self._factors[self._peaks[number]])
        return _Term(self._docs[start:end], self._codes[start:end], weight, float(most))

    def _idf(self, frequency: int) -> float:
        return math.log(1 + (self._counted - frequency + 0.5) / (frequency + 0.5))

    def _term_number(self, term: bytes) -> int | None:
        low, high = 0, len(self._term_offsets) - 1
        while low < high:
            middle = (low + high) // 2
            start, end = self._term_offsets[middle : middle + 2]
            here = self._terms[start:end].tobytes()
            if here == term:
                return middle
            low, high = (middle + 1, high) if here < term else (low, middle)
        return None

    def _score(self, terms: list[_Term], limit: int) -> tuple[Array, Scores]:
        """Documents and scores, with all of the best `limit` (and their equals) among them."""
        remaining = [*np.cumsum([t.most for t in reversed(terms)])[::-1].tolist(), 0.0]
        postings = [*np.cumsum([len(t.docs) for t in reversed(terms)])[::-1].tolist(), 0]
        total = np.zeros(-(-self.documents // _ROWS) * _ROWS)
        for i, term in enumerate(terms, 1):
            at = term.docs.astype(np.intp)  # once: numpy would do it for reading and for writing
            total[at] += self._gains(term, term.codes)
            likely = remaining[i] < _LIKELY * (remaining[0] - remaining[i])
            if likely and postings[i] > _WORTH_PRUNING:
                floor = _kth_best(total, limit) - remaining[i] * _SLACK
                if floor > 0 and np.count_nonzero(total >= floor) * _LOOKUP_COST < postings[i]:
                    docs = _at_least(total, floor)
                    return self._finish(docs, total[docs], terms[i:], remaining[i:], limit)
        docs = _at_least(total, _kth_best(total, limit))
        return docs, total[docs]

    def _finish(
        self, docs: Array, scores: Scores, terms: list[_Term], remaining: list[float], limit: int
    ) -> tuple[Array, Scores]:
        """Look the remaining terms up for the documents that are still in reach."""
        for term, rest in zip(terms, remaining[1:], strict=True):
            scores += self._lookup(term, docs)
            if len(docs) > limit:
                threshold = float(np.partition(scores, -limit)[-limit])
                keep = scores * _SLACK + rest * _SLACK >= threshold
                docs, scores = docs[keep], scores[keep]
        return docs, scores

    def _lookup(self, term: _Term, docs: Array) -> Scores:
        if len(docs) * _LOOKUP_COST > len(term.docs):
            spread = np.zeros(self.documents, np.float32)
            spread[term.docs] = self._gains(term, term.codes)
            return spread[docs].astype(np.float64)
        at = np.searchsorted(term.docs, docs.astype(np.uint32))
        at[at == len(term.docs)] = 0
        gains = self._gains(term, term.codes[at]).astype(np.float64)
        return np.where(term.docs[at] == docs, gains, 0.0)

    def _gains(self, term: _Term, codes: Array) -> NDArray[np.float32]:
        if len(codes) < len(self._factors):
            return np.asarray(term.weight - term.weight / (np.float32(1) + self._factors[codes]))
        table = term.weight - term.weight / (np.float32(1) + self._factors)
        return table.take(codes)


def _kth_best(total: Scores, k: int) -> float:
    """The k-th largest of `total`, or the smallest positive number if there are fewer."""
    peaks = _column_peaks(total)
    if len(peaks) > k:
        floor = float(np.partition(peaks, -k)[-k])
        if floor > 0:
            values = total[_at_least(total, floor, peaks)]
            return float(np.partition(values, -k)[-k])
    positive = total[total > 0]
    if len(positive) > k:
        return float(np.partition(positive, -k)[-k])
    return float(np.nextafter(0, 1))


def _at_least(total: Scores, floor: float, peaks: Scores | None = None) -> Array:
    """The documents of at least `floor`, allowing for the rounding of final scores."""
    floor = max(floor * (1 - 1e-6), float(np.nextafter(0, 1)))
    if peaks is None:
        peaks = _column_peaks(total)
    columns = np.flatnonzero(peaks >= floor)
    row, at = np.nonzero(total.reshape(_ROWS, -1)[:, columns] >= floor)
    return np.asarray(row * len(peaks) + columns[at])


def _column_peaks(total: Scores) -> Scores:
    """The best of each column when the documents are laid out in `_ROWS` rows.

    A first sieve: 64 documents at a time are ruled out by one number, and numpy
    finds the numbers four times as fast along this axis as along the other.
    """
    return np.asarray(total.reshape(_ROWS, -1).max(axis=0))


def map_array(path: Path, dtype: Any) -> Array:
    """A file's numbers, read from disk when they are looked at; an empty one cannot be mapped."""
    if path.stat().st_size == 0:
        return np.empty(0, dtype)
    return np.asarray(np.memmap(path, dtype, "r"))  # a plain view: slicing a memmap is slow
