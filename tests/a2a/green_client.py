"""Asking a green agent in another process, with our own client."""

import asyncio

from agentquest.a2a_agents.asking import ask
from agentquest.a2a_agents.connection import find_agent
from agentquest.a2a_agents.requests import AssessmentConfig, request_text


class Green:
    """A green agent in its own process, asked with our client."""

    def __init__(self, process, logs):
        self.process = process
        self.logs = logs
        self.url = process.url

    def assess(self, agent_url, news=None, **config):
        """The result of an assessment, as the client gets it."""

        async def run():
            party = await find_agent(self.url, 10)
            text = request_text(agent_url, AssessmentConfig(**config))
            return await ask(party.card, text, news.append if news is not None else str)

        return asyncio.run(run())
