"""One green agent and one process of each kind of white agent for all tests of a module."""

import asyncio

import pytest
from agent_processes import agentquest, script


class Green:
    """A green agent in its own process, asked with our client."""

    def __init__(self, process, logs):
        self.process = process
        self.logs = logs
        self.url = process.url

    def assess(self, agent_url, news=None, **config):
        """The result of an assessment, as the client gets it."""
        from agentquest.a2a_agents.asking import ask
        from agentquest.a2a_agents.connection import find_agent
        from agentquest.a2a_agents.requests import AssessmentConfig, request_text

        async def run():
            party = await find_agent(self.url, 10)
            text = request_text(agent_url, AssessmentConfig(**config))
            return await ask(party.card, text, news.append if news is not None else str)

        return asyncio.run(run())


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
