"""The part of a catalogue build that runs on every core: parse, normalise, analyse.

`main` runs in a child process and serves batches over standard input and output
until the input ends. A plain child process needs no `if __name__ == "__main__"` in
the user's script, as multiprocessing would.
"""

import json
import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from agentquest.benchmarks.webshop.catalogue.products import Product, read_product
from agentquest.benchmarks.webshop.search.index_build import TermBatch, count_terms
from agentquest.errors import DataError

RawProduct = tuple[str, str | None, str | None]  # texts of: product, listing, human


@dataclass(frozen=True)
class ProductBatch:
    """What one batch of raw products has become."""

    rows: list[bytes]
    facts: list[dict[str, Any]]
    terms: TermBatch


def prepare(batch: list[RawProduct]) -> ProductBatch:
    """Rows, columns and search terms of a batch; raises DataError for one it cannot read."""
    products = [
        read_product(json.loads(raw), _parsed(listing), _parsed(human))
        for raw, listing, human in batch
    ]
    return ProductBatch(
        rows=[product.to_row() for product in products],
        facts=[_facts(product) for product in products],
        terms=count_terms(product.document for product in products),
    )


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _facts(product: Product) -> dict[str, Any]:
    """What the catalogue keeps in columns, beside the row."""
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


class Worker:
    """A child process that prepares batches."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", f"from {__name__} import main; main()"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout

    def prepare(self, batch: list[RawProduct]) -> ProductBatch:
        """Let the child prepare a batch; raises DataError with its reason, or if it has ended."""
        try:
            pickle.dump(batch, self._input, protocol=5)
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


def main() -> None:
    """Serve batches until the input ends; a DataError is answered as its text."""
    while True:
        try:
            batch = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: ProductBatch | str
        try:
            answer = prepare(batch)
        except DataError as error:
            answer = str(error)
        pickle.dump(answer, sys.stdout.buffer, protocol=5)
        sys.stdout.buffer.flush()
