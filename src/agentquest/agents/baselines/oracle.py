"""The upper bound: plays the shortest winning plan, which it is shown."""

from agentquest.lib import Answer, InformedAgent, Observation


class OracleAgent(InformedAgent):
    """Asks for a new plan at every step, and gives up when there is none."""

    async def act(self, observation: Observation) -> Answer:
        plan = self.oracle.plan()
        return Answer(action=plan[0]) if plan else Answer(action=None, give_up=True)
