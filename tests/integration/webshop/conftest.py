"""The built-in shop, served and in process, in a cache of the tests' own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from serving_process import ServerProcess

from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.shop.shop import Shop


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def shop(cache: Path) -> Shop:
    return Shop(open_catalogue(cache=cache / "webshop"))


@pytest.fixture(scope="module")
def server(
    shop: Shop, cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("server"), cache) as process:
        yield process
