"""The real 1,000 products, opened once, in a cache of the tests' own."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agentquest.benchmarks.webshop.catalogue.catalogue import Catalogue, open_catalogue
from shared_data import WEBSHOP

GOLDEN = WEBSHOP / "golden"


def recorded(name: str) -> Any:
    """One recording: JSON, or a list of it from a file of lines; compressed or not."""
    path = GOLDEN / name
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if ".jsonl" in name:
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text)


class RecordedNouns:
    """The nouns as the original's spaCy saw them, so that rewards can be compared exactly."""

    name = "recorded"

    def __init__(self, catalogue: Catalogue) -> None:
        self._nouns = {}
        for asin, tokens in recorded("title_pos.json.gz").items():
            number = catalogue.number(asin)
            assert number is not None
            self._nouns[catalogue.product(number).title] = tuple(
                text.lower() for text, tag in tokens if tag in ("NOUN", "PROPN")
            )

    def __call__(self, title: str, bought: bool = False) -> tuple[str, ...]:
        return self._nouns[title]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def catalogue(cache: Path) -> Catalogue:
    return open_catalogue(WEBSHOP / "data", cache=cache)


@pytest.fixture(scope="session")
def recorded_nouns(catalogue: Catalogue) -> RecordedNouns:
    return RecordedNouns(catalogue)


@pytest.fixture(scope="session")
def recordings() -> Any:
    return recorded
