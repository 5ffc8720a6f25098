"""An agent of your own, evaluated from Python: it does what it has done least often.

One instance plays one episode. `agentquest.evaluate` takes the class itself; in a
configuration file it is named `custom_agent:LeastTried`, with this folder on PYTHONPATH.
Run it: `python examples/custom_agent.py`
"""

import tempfile
from collections import Counter

from pydantic import Field

import agentquest
from agentquest.lib import Agent, Answer, Episode, Observation, Settings


class LeastTriedSettings(Settings):
    patience: int = Field(default=3, ge=1)
    """How often a command may be given before the agent gives up."""


class LeastTried(Agent):
    """Takes the admissible command it has given least often, the first of them in a tie."""

    Settings = LeastTriedSettings

    def __init__(self, settings: LeastTriedSettings) -> None:
        self._patience = settings.patience

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._given: Counter[str] = Counter()

    async def act(self, observation: Observation) -> Answer:
        if not observation.admissible:
            return Answer(action=None)
        command = min(observation.admissible, key=lambda each: self._given[each])
        if self._given[command] == self._patience:
            return Answer(action=None, give_up=True)
        self._given[command] += 1
        return Answer(action=command, reasoning=f"given {self._given[command]} times now")


def main() -> None:
    game = agentquest.play(
        "alfworld", agent=LeastTried, data_path="builtin", split="valid_unseen", max_steps=30
    )
    print("goal:", game.goal)
    for step in game.steps:
        print(f"> {step.action}\n{step.observation}")
    print("end:", game.end.value)

    with tempfile.TemporaryDirectory() as folder:
        result = agentquest.evaluate(
            benchmark="alfworld",
            data_path="builtin",
            agent=LeastTried,
            num_games=12,
            max_steps=30,
            output_dir=folder,
        )
        rate, interval = result.summary["success_rate"], result.summary["interval"]
        print(f"success: {rate:.0%}, 95% interval {interval[0]:.0%} to {interval[1]:.0%}")
        for row in result.to_rows()[:3]:
            print(row["task_type"], row["end"], row["steps"], f"{row['repetition']:.2f}")


if __name__ == "__main__":
    main()
