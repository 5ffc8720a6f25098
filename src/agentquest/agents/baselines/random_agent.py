"""The lower bound: picks any admissible command.

A command may leave blanks, as `search[<query>]` does; they are filled at random,
free text with a few words of the goal (or of the page, for an agent that was told
no goal).
"""

import random

from agentquest.lib import Agent, Answer, Episode, Observation
from agentquest.lib.commands import filled


class RandomAgent(Agent):
    """Plays at random; the episode's seed decides what."""

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._random = random.Random(episode.seed)

    async def act(self, observation: Observation) -> Answer:
        if not observation.admissible:
            return Answer(action=None)
        command = self._random.choice(observation.admissible)
        return Answer(filled(command, self._random, self.episode.goal or observation.text))
