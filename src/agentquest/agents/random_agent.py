"""The lower bound: picks any admissible command.

A command may leave a blank, as `search[<query>]` does; it is filled with a few
words of the goal (or of the page, for an agent that was told no goal), drawn at random.
"""

import random
import re

from agentquest.lib import Agent, Answer, Episode, Observation

_BLANK = re.compile(r"<[a-z]+>")
_WORD = re.compile(r"[^\W\d_]{3,}")
_MOST_WORDS = 4


class RandomAgent(Agent):
    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._random = random.Random(f"{episode.seed}/{episode.task.id}")

    async def act(self, observation: Observation) -> Answer:
        if not observation.admissible:
            return Answer(action=None)
        command = self._random.choice(observation.admissible)
        text = self.episode.goal or observation.text
        return Answer(action=_BLANK.sub(lambda blank: self._some_words(text), command))

    def _some_words(self, text: str) -> str:
        words = _WORD.findall(text) or ["anything"]
        count = self._random.randint(1, min(_MOST_WORDS, len(words)))
        return " ".join(self._random.sample(words, count))
