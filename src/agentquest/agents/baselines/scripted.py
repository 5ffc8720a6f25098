"""The honest baseline: simple rules that read only what an LLM would read.

It wins nearly every game, a random player hardly any; models are in between. So it
can be made worse by a stated measure: without the benchmark's `table`, and with
`slips`. `clumsy` is the same player with a rate of slips that loses some games.
"""

import random

from pydantic import Field

from agentquest.errors import ConfigError
from agentquest.lib import Agent, Answer, Episode, Explorer, Observation, Settings
from agentquest.lib.commands import filled


class ScriptedSettings(Settings):
    """By how much the rules are made worse."""

    slips: float = Field(default=0.0, ge=0.0, le=1.0)
    """The share of turns that slip: a random command, or the last one again."""

    table: bool = True
    """Whether the rules use the benchmark's table of what such tasks are usually like, if any."""


class ScriptedAgent(Agent):
    """Does what the benchmark's explorer says, except for slips."""

    Settings = ScriptedSettings

    def __init__(self, settings: ScriptedSettings, explorer: Explorer) -> None:
        if not settings.table:
            if explorer.table is None:
                raise ConfigError("agent.table: this benchmark's rules use no table; remove it")
            explorer.table = False
        self._slips = settings.slips
        self._explorer = explorer
        self._last: str | None = None

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._random = random.Random(episode.seed)

    async def act(self, observation: Observation) -> Answer:
        meant = self._explorer.choose(observation)
        action, how = meant, "verbatim"
        if self._slips and self._random.random() < self._slips:
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


class ClumsySettings(ScriptedSettings):
    """Those of the scripted player, with slips by default."""

    slips: float = Field(default=0.3, ge=0.0, le=1.0)
    """The share of turns that slip."""


class ClumsyAgent(ScriptedAgent):
    """The scripted player with slips: between perfect and random."""

    Settings = ClumsySettings
