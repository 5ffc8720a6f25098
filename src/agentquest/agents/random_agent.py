"""The lower bound: picks any admissible command."""

import random

from agentquest.lib import Agent, Answer, Episode, Observation


class RandomAgent(Agent):
    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._random = random.Random(f"{episode.seed}/{episode.task.id}")

    async def act(self, observation: Observation) -> Answer:
        if not observation.admissible:
            return Answer(action=None)
        return Answer(action=self._random.choice(observation.admissible))
