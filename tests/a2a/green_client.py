"""Asking a green agent in another process, with our own client."""

import asyncio

from agentquest.a2a.client.connection import find_agent
from agentquest.a2a.config import AssessmentConfig
from agentquest.a2a.launcher import ask_green
from agentquest.a2a.requests import write_request


class Green:
    """A green agent in its own process, asked with our client."""

    def __init__(self, process, logs, headers=None):
        self.process = process
        self.headers = headers
        self.logs = logs
        self.url = process.url

    def assess(self, agent_url, news=None, **config):
        """The result of an assessment, as the client gets it."""
        return self.ask(write_request(agent_url, AssessmentConfig(**config)), news)

    def ask(self, text, news=None):
        """The answer to a request, whatever it says."""

        async def run():
            party = await find_agent(self.url, 10, self.headers)
            return await ask_green(party, text, news.append if news is not None else str)

        return asyncio.run(run())
