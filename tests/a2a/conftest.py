"""One green agent and one process of each kind of white agent for all tests of a module."""

import pytest
from agent_processes import agentquest, script
from green_client import Green


@pytest.fixture(scope="session")
def green(tmp_path_factory):
    logs = tmp_path_factory.mktemp("logs")
    options = ["--port", "0", "--log-dir", str(logs), "--data-path", "builtin"]
    with agentquest("green", *options) as process:
        yield Green(process, logs)


@pytest.fixture(scope="session")
def strange():
    with script("strange_agents.py") as process:
        yield process.url


@pytest.fixture(scope="session")
def served():
    """Our own white agents; add a kind's name and a slash."""
    with script("served_agents.py") as process:
        yield process.url


@pytest.fixture(scope="session")
def scripted(served):
    return f"{served}scripted/"
