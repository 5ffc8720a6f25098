"""An agent that computes, for workers in other processes."""

import asyncio
import time

from agentquest.agents.baselines import ScriptedAgent
from agentquest.lib import Answer, Observation

STEP_S = 0.02


class Busy(ScriptedAgent):
    """Takes 20 ms of processor time for a step, as a small local model would."""

    async def act(self, observation: Observation) -> Answer:
        until = time.process_time() + STEP_S
        while time.process_time() < until:
            pass
        await asyncio.sleep(0)  # others of this worker get their turn
        return await super().act(observation)
