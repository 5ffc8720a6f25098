"""An agent of your own: it does what it has done least often.

Name it in a run's configuration as `custom_agent:LeastTried`, with this folder
on PYTHONPATH. One instance plays one episode. Run it here on a built-in home:
`python examples/custom_agent.py`
"""

import asyncio
from collections import Counter

from agentquest.benchmarks.alfworld import AlfWorldAction
from agentquest.benchmarks.alfworld.benchmark import AlfWorldBenchmark
from agentquest.lib import Agent, Answer, Episode, Observation

STEPS = 30


class LeastTried(Agent):
    """Takes the admissible command it has given least often, the first of them in a tie."""

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._given: Counter[str] = Counter()

    async def act(self, observation: Observation) -> Answer:
        if not observation.admissible:
            return Answer(action=None)
        command = min(observation.admissible, key=lambda each: self._given[each])
        self._given[command] += 1
        return Answer(action=command, reasoning=f"given {self._given[command]} times now")


async def play() -> None:
    benchmark = AlfWorldBenchmark(split="valid_unseen", data_path="builtin")
    task = benchmark.tasks()[0]
    driver = benchmark.driver(task)
    observation = driver.reset()
    agent = LeastTried()
    await agent.begin(
        Episode(
            task=task,
            goal=driver.metrics.goal,
            dialect=driver.dialect,
            max_steps=STEPS,
            seed=0,
            driver=driver,
        )
    )
    print("goal:", driver.metrics.goal)
    for _ in range(STEPS):
        answer = await agent.act(observation)
        if answer.action is None or not observation.can_proceed:
            break
        observation = driver.step(AlfWorldAction(value=answer.action))
        print(f"> {answer.action}\n{observation.text}")
    await agent.close()
    print("success:", driver.metrics.success)
    print("repetition rate:", driver.metrics.repetition_rate())


if __name__ == "__main__":
    asyncio.run(play())
