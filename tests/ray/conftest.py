"""One real cluster of separate node processes for all tests here."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="Ray is not installed (extra `ray`)")
    made = pytest.importorskip("ray.cluster_utils").Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1}
    )
    made.add_node(num_cpus=1)
    made.wait_for_nodes(timeout=180)
    yield made
    ray.shutdown()
    made.shutdown()
