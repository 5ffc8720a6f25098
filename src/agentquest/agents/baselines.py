"""Players without a model: the upper bound, the lower bound, and rules in between."""

import random

from pydantic import Field

from agentquest.errors import ConfigError
from agentquest.lib import Agent, Answer, Episode, Explorer, InformedAgent, Observation, Settings
from agentquest.lib.commands import fill_at_random
from agentquest.records.how import How


class OracleAgent(InformedAgent):
    """The upper bound: plays the shortest winning plan, which it is shown at every step.

    It gives up when there is none.
    """

    async def act(self, observation: Observation) -> Answer:
        plan = self.oracle.plan()
        return Answer(action=plan[0]) if plan else Answer(action=None, give_up=True)


class RandomAgent(Agent):
    """The lower bound: plays any admissible command; the episode's seed decides which.

    Blanks, as in `search[<query>]`, are filled at random: free text with a few words of the
    goal, or of the page for an agent that was told no goal.
    """

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._random = random.Random(episode.seed)

    async def act(self, observation: Observation) -> Answer:
        if not observation.admissible:
            return Answer(action=None)
        return Answer(_draw_command(self._random, observation, self.episode.goal))


def _draw_command(rng: random.Random, observation: Observation, goal: str) -> str:
    return fill_at_random(rng.choice(observation.admissible), rng, goal or observation.text)


class ScriptedSettings(Settings):
    """By how much the rules are made worse."""

    slips: float = Field(default=0.0, ge=0.0, le=1.0)
    """The share of turns that slip: a random command, or the last one again."""

    table: bool = True
    """Whether the rules use the benchmark's table of what such tasks are usually like, if any."""


class ScriptedAgent(Agent):
    """The honest baseline: the explorer's rules, which read only what a model would read.

    It wins nearly every game, a random player hardly any; models are in between. So it can be
    made worse by a stated measure: without the benchmark's `table`, and with `slips`.
    """

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
        intended = self._explorer.choose(observation)
        action, how = intended, How.VERBATIM
        if self._slips and self._random.random() < self._slips:
            action, how = self._slip(observation, intended), How.SLIP
        self._last = action
        return Answer(action=action, how=how, reply=action, reasoning=self._explorer.thought)

    def _slip(self, observation: Observation, intended: str) -> str:
        if self._last is not None and self._random.random() < 0.5:
            return self._last
        if not observation.admissible:
            return intended
        return _draw_command(self._random, observation, self.episode.goal)


class ClumsySettings(ScriptedSettings):
    """The scripted player's settings, with slips by default."""

    slips: float = Field(default=0.3, ge=0.0, le=1.0)
    """The share of turns that slip."""


class ClumsyAgent(ScriptedAgent):
    """The scripted player with a rate of slips that loses some games."""

    Settings = ClumsySettings
