"""Building the search index from a stream of documents, in bounded memory.

Documents arrive in batches of counted terms (`count_terms`, which worker
processes can run). They are appended to scratch files and inverted at the end,
a few million postings at a time. The folder is finished when `finish` returns;
the caller builds in a temporary folder and renames it, so that a build that was
stopped leaves nothing that could be taken for an index.

What is stored, term by term in byte order of the terms:
    docs.bin     document numbers, ascending (uint32)
    codes.bin    for each of them, the number of its (frequency, length) pair
    offsets.npy  where each term's postings begin; peaks.npy the largest code of each
    factors.npy  frequency divided by the length norm, for each code, ascending:
                 a larger code is a larger score, whatever the term
    terms.bin, term_offsets.npy   the terms; ranks.npy the order among equal scores
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from agentquest.benchmarks.webshop.search.analysis import analyse

BLOCK = 2_000_000  # postings inverted at a time; 100 MB of arrays
SHORT_CODES = 1 << 16  # so many kinds of posting fit two bytes
K1 = np.float32(0.9)
B = np.float32(0.4)
_EXACT_LENGTHS = 24

Ints = NDArray[Any]
BuildProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class TermBatch:
    """The counted terms of some documents; `ids` index into `terms`."""

    terms: list[str]
    ids: Ints
    frequencies: Ints
    distinct: Ints  # how many different terms each document has
    lengths: Ints  # how many terms each document has in all


def count_terms(texts: Iterable[str]) -> TermBatch:
    """Analyse documents and count their terms."""
    numbers: dict[str, int] = {}
    ids: list[int] = []
    frequencies: list[int] = []
    distinct: list[int] = []
    lengths: list[int] = []
    for text in texts:
        counted = Counter(analyse(text))
        ids += [numbers.setdefault(term, len(numbers)) for term in counted]
        frequencies += counted.values()
        distinct.append(len(counted))
        lengths.append(counted.total())
    return TermBatch(
        list(numbers),
        *(np.array(column, np.int32) for column in (ids, frequencies, distinct, lengths)),
    )


class IndexWriter:
    """Collects batches and writes the index into `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers: dict[str, int] = {}
        self._distinct: list[Ints] = []
        self._lengths: list[Ints] = []
        self._scratch = {name: folder / f"{name}.scratch" for name in ("ids", "frequencies")}
        self._files: dict[str, IO[bytes]] = {
            name: path.open("wb") for name, path in self._scratch.items()
        }

    def add(self, batch: TermBatch) -> None:
        """Append a batch; its documents are numbered on from the last."""
        numbers = self._numbers
        to_global = np.array(
            [numbers.setdefault(term, len(numbers)) for term in batch.terms], np.int32
        )
        self._files["ids"].write(to_global[batch.ids].tobytes())
        self._files["frequencies"].write(batch.frequencies.tobytes())
        self._distinct.append(batch.distinct)
        self._lengths.append(batch.lengths)

    def finish(self, ranks: Ints, progress: BuildProgress | None = None) -> None:
        """Invert what was added. `ranks` orders documents of equal score."""
        for file in self._files.values():
            file.close()
        lengths = np.concatenate([*self._lengths, np.empty(0, np.int32)])
        self._distinct_all = np.concatenate([*self._distinct, np.empty(0, np.int32)])
        self._norms = encode_length(lengths)
        new_number = self._write_terms()
        document_frequency, pairs = self._survey(new_number)
        offsets = np.concatenate([[0], np.cumsum(document_frequency, dtype=np.int64)])
        filled = int(np.count_nonzero(lengths))
        average = np.float32(int(lengths.sum(dtype=np.int64)) / max(filled, 1))
        factors = _factors(pairs, average)
        by_factor = np.argsort(factors, kind="stable")
        code_of_pair = np.empty(len(pairs), np.int64)
        code_of_pair[by_factor] = np.arange(len(pairs))
        code_type = np.uint16 if len(pairs) <= SHORT_CODES else np.uint32
        self._place(new_number, offsets, pairs, code_of_pair.astype(code_type), progress)
        self._save("offsets", offsets)
        self._save("factors", factors[by_factor])
        self._save("ranks", ranks.astype(np.uint32))
        meta = {"documents": len(lengths), "counted": filled, "codes": np.dtype(code_type).name}
        (self.folder / "index.json").write_text(json.dumps(meta), "utf-8")
        for path in self._scratch.values():
            path.unlink()

    def _save(self, name: str, values: Ints) -> None:
        np.save(self.folder / f"{name}.npy", values)

    def _write_terms(self) -> Ints:
        """Write the terms in byte order; returns each term's new number."""
        encoded = [term.encode("utf-8", "surrogatepass") for term in self._numbers]
        self._numbers = {}
        order = sorted(range(len(encoded)), key=encoded.__getitem__)
        new_number = np.empty(len(order), np.int32)
        new_number[order] = np.arange(len(order), dtype=np.int32)
        sizes = np.array([len(encoded[i]) for i in order], np.int64)
        with (self.folder / "terms.bin").open("wb") as file:
            file.writelines(encoded[i] for i in order)
        self._save("term_offsets", np.concatenate([[0], np.cumsum(sizes)]))
        return new_number

    def _blocks(self, new_number: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Whole documents at a time: terms, document numbers, (frequency, norm) pairs."""
        ends = np.cumsum(self._distinct_all, dtype=np.int64)
        with self._scratch["ids"].open("rb") as ids, self._scratch["frequencies"].open("rb") as tfs:
            first, done = 0, 0
            while first < len(ends):
                last = max(int(np.searchsorted(ends, done + BLOCK)), first + 1)
                count = int(ends[last - 1]) - done
                terms = new_number[np.fromfile(ids, np.int32, count)]
                frequencies = np.fromfile(tfs, np.int32, count)
                documents = np.repeat(
                    np.arange(first, last, dtype=np.uint32), self._distinct_all[first:last]
                )
                pairs = frequencies.astype(np.int64) * 256 + self._norms[documents]
                yield terms, documents, pairs
                first, done = last, done + count

    def _survey(self, new_number: Ints) -> tuple[Ints, Ints]:
        document_frequency = np.zeros(len(new_number), np.int64)
        pairs = np.empty(0, np.int64)
        for terms, _, block_pairs in self._blocks(new_number):
            document_frequency += np.bincount(terms, minlength=len(new_number))
            pairs = np.union1d(pairs, block_pairs)
        return document_frequency, pairs

    def _place(
        self,
        new_number: Ints,
        offsets: Ints,
        pairs: Ints,
        code_of_pair: Ints,
        progress: BuildProgress | None,
    ) -> None:
        total = int(offsets[-1])
        paths = self.folder / "docs.bin", self.folder / "codes.bin"
        peaks = np.zeros(len(new_number), code_of_pair.dtype)
        if total == 0:  # nothing can be mapped then
            for path in paths:
                path.touch()
            self._save("peaks", peaks)
            return
        docs = np.memmap(paths[0], np.uint32, "w+", shape=total)
        codes = np.memmap(paths[1], code_of_pair.dtype, "w+", shape=total)
        free = offsets[:-1].copy()
        for terms, documents, block_pairs in self._blocks(new_number):
            order = np.argsort(terms, kind="stable")
            terms = terms[order]
            starts = np.flatnonzero(np.diff(terms, prepend=-1))
            counts = np.diff(starts, append=len(terms))
            within = np.arange(len(terms)) - np.repeat(starts, counts)
            target = free[terms] + within
            block_codes = code_of_pair[np.searchsorted(pairs, block_pairs[order])]
            docs[target] = documents[order]
            codes[target] = block_codes
            present = terms[starts]
            free[present] += counts
            highest = np.maximum.reduceat(block_codes, starts) if len(present) else peaks[:0]
            peaks[present] = np.maximum(peaks[present], highest)
            if progress:
                progress(int(documents[-1]) + 1 if len(documents) else 0, len(self._norms))
        docs.flush()
        codes.flush()
        self._save("peaks", peaks)


def encode_length(lengths: Ints) -> Ints:
    """Document lengths as Lucene keeps them: one byte, exact below 40, then 4 bits."""
    over = np.maximum(lengths.astype(np.int64) - _EXACT_LENGTHS, 0)
    bits = np.frexp(over.astype(np.float64))[1].astype(np.int64)
    shift = np.maximum(bits - 4, 0)
    coded = np.where(bits < 4, over, ((over >> shift) & 7) | ((shift + 1) << 3))
    return np.where(lengths < _EXACT_LENGTHS, lengths, _EXACT_LENGTHS + coded).astype(np.uint8)


def decode_length(codes: Ints) -> Ints:
    """The lengths that `encode_length` kept; from 40 on rounded down."""
    over = codes.astype(np.int64) - _EXACT_LENGTHS
    shift = (over >> 3) - 1
    large = ((over & 7) | 8) << np.maximum(shift, 0)
    decoded = np.where(shift < 0, over & 7, large)
    return np.where(over < 0, codes, _EXACT_LENGTHS + decoded)


def _factors(pairs: Ints, average: np.float32) -> Ints:
    """Frequency times the inverse length norm, in the 32-bit steps that Lucene takes."""
    length = decode_length(pairs & 255).astype(np.float32)
    inverse = np.float32(1) / (K1 * ((np.float32(1) - B) + B * length / average))
    return np.asarray((pairs >> 8).astype(np.float32) * inverse, np.float32)
