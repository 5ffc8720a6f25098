"""One real cluster of separate node processes for all tests here, on the loopback alone."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

# Ray calls this machine by its address in the network, unless it takes it for one without clusters.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"


@pytest.fixture(scope="session")
def nodes() -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="Ray is not installed (extra `ray`)")
    made = pytest.importorskip("ray.cluster_utils").Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1}
    )
    made.add_node(num_cpus=1)
    made.wait_for_nodes(timeout=180)
    assert made.address.startswith("127.0.0.1:")
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def cluster(nodes: Any) -> Any:
    """The nodes, once it is known which of them earlier tests have killed."""
    nodes.wait_for_nodes(timeout=180)
    return nodes
