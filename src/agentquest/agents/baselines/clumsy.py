"""Between the bounds: the rule-based player, with a stated rate of slips.

A slip is a random command instead of the one it meant, or its last command again;
which turns slip is decided by the episode's seed, so a run can be repeated.
"""

import random

from pydantic import Field

from agentquest.lib import Agent, Answer, Episode, Explorer, Observation, Settings
from agentquest.lib.commands import filled


class ClumsySettings(Settings):
    """How clumsy it is."""

    slips: float = Field(default=0.3, ge=0.0, le=1.0)
    """The share of turns that slip."""


class ClumsyAgent(Agent):
    """Does what the rule-based player would do, except where it slips; records tell the slips."""

    Settings = ClumsySettings

    def __init__(self, settings: ClumsySettings, explorer: Explorer) -> None:
        self._slips = settings.slips
        self._explorer = explorer
        self._last: str | None = None

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._random = random.Random(episode.seed)

    async def act(self, observation: Observation) -> Answer:
        meant = self._explorer.next_action(observation.text)
        action, how = meant, "verbatim"
        if self._random.random() < self._slips:
            action, how = self._slipped(observation, meant), "slip"
        self._last = action
        return Answer(action=action, how=how, reply=action, reasoning=self._explorer.thought)

    def _slipped(self, observation: Observation, meant: str) -> str:
        if self._last is not None and self._random.random() < 0.5:
            return self._last
        if not observation.admissible:
            return meant
        text = self.episode.goal or observation.text
        return filled(self._random.choice(observation.admissible), self._random, text)
