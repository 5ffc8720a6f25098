"""The honest baseline: simple rules that read only what an LLM would read."""

from agentquest.lib import Agent, Answer, Explorer, Observation


class ScriptedAgent(Agent):
    """Plays what the benchmark's explorer says; needs a benchmark that has one."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer

    async def act(self, observation: Observation) -> Answer:
        action = self._explorer.next_action(observation.text)
        return Answer(action=action, reply=action, reasoning=self._explorer.thought)
