"""Searching a small index, held in memory whole.

With a few thousand documents the arithmetic of a query costs less than looking
its terms up and deciding what to leave out. So terms are in a dictionary, what
depends on a posting alone is worked out beforehand, and every posting is added
up. The numbers, and the order in which they are added, are those of the large
index: rankings and scores are the same to the last bit.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LARGEST = 20_000  # documents


@dataclass(frozen=True)
class SmallIndex:
    """Postings of term number n stand from `offsets[n]` to `offsets[n + 1]`."""

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
        return self._best(totals.astype(np.float64, copy=False), limit)

    def _best(self, totals: NDArray[np.float64], limit: int) -> list[tuple[int, float]]:
        docs = np.flatnonzero(totals)
        scores = totals[docs].astype(np.float32)
        if len(docs) > limit:
            at = len(docs) - limit
            kept = np.flatnonzero(scores >= np.partition(scores, at)[at])
            docs, scores = docs[kept], scores[kept]
        order = np.lexsort((self.ranks[docs], -scores))[:limit]
        return list(zip(docs[order].tolist(), scores[order].tolist(), strict=True))
