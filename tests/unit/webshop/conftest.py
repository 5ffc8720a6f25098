"""The built-in shop, opened once, in a cache of the tests' own."""

from pathlib import Path

import pytest

from agentquest.benchmarks.webshop.catalogue.catalogue import Catalogue, open_catalogue
from agentquest.benchmarks.webshop.shop.shop import Shop


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def catalogue(cache: Path) -> Catalogue:
    return open_catalogue(cache=cache)


@pytest.fixture(scope="session")
def shop(catalogue: Catalogue) -> Shop:
    return Shop(catalogue)
