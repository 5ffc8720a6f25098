"""The upper bound: plays the shortest winning plan. Looks behind the curtain."""

from agentquest.errors import UserError
from agentquest.lib import Agent, Answer, Episode, Observation


class OracleAgent(Agent):
    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        plan = getattr(episode.driver, "oracle_actions", None)
        if plan is None:
            raise UserError(f"{type(episode.driver).__name__} offers no oracle")
        self._plan = plan

    async def act(self, observation: Observation) -> Answer:
        actions = self._plan()
        return Answer(action=actions[0] if actions else None)
