"""A taskset and an environment for verifiers (v1): the game in the host's process.

    vf-eval agentquest-v1 --env.taskset.benchmark alfworld --env.taskset.split valid_seen -n 20

The model answers in free text; a rollout's reward is the game's.
"""

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from agentquest.adapters.arenas import TextPlayer, shared_arena, system_prompt
from agentquest.lib import Arena, Session


class GameConfig(vf.TasksetConfig):
    """Which tasks there are, and how they are played."""

    benchmark: str = "alfworld"
    """Which of AgentQuest's benchmarks."""
    split: str | None = None
    """Which tasks; None is the benchmark's first split."""
    max_steps: int = 50
    """Steps per episode; an answer without a command is one, too."""
    show_admissible: bool = False
    """Whether the model is told the commands that are possible now."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """The benchmark's own settings, such as data_path."""


class GameData(vf.TaskData):
    """A task as plain data: all that is needed to open its game."""

    task_id: str
    task_type: str
    benchmark: str
    settings: dict[str, Any]
    max_steps: int
    show_admissible: bool


class GameTask(vf.Task[GameData, vf.State, vf.TaskConfig]):
    """One task, which the oracle can prove to be solvable."""

    async def validate(self, runtime: Any) -> bool:
        """The oracle's plan must win."""
        session = Session(_arena(self.data), self.data.max_steps)
        session.reset(self.data.task_id)
        for command in session.plan():
            session.step(command)
        return session.last.won


class GameTaskset(vf.Taskset[GameTask, GameConfig]):
    """The tasks of a split."""

    def load(self) -> Iterator[GameTask]:
        """Every task, its prompt made of the instructions and the first observation."""
        config = self.config
        settings = {**config.settings, "split": config.split}
        arena = shared_arena(config.benchmark, settings)
        prompt = system_prompt(arena)
        player = TextPlayer(arena, config.max_steps, config.show_admissible)
        for task in arena.tasks():
            data = GameData(
                id=task.id,
                name=task.id,
                prompt=player.begin(task),
                system_prompt=prompt,
                task_id=task.id,
                task_type=task.task_type,
                benchmark=config.benchmark,
                settings=settings,
                max_steps=config.max_steps,
                show_admissible=config.show_admissible,
            )
            yield GameTask(data, config.task)


class GameEnvConfig(vf.EnvConfig):
    """Who plays."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})
    """Who plays: the bare model, without tools, on this machine."""


class GameEnv(vf.Env[GameEnvConfig]):
    """Plays a task with a model that answers in free text."""

    async def run(self, task: GameTask, agents: Any) -> None:
        """Play until the game or the model's turns end, and record reward, success and steps."""
        data = task.data
        player = TextPlayer(_arena(data), data.max_steps, data.show_admissible)
        player.begin(data.task_id)
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                told = player.answer(segment.last_reply)
                if player.session.last.over:
                    break
                segment = await interaction.turn(told)
        turn, trace = player.session.last, interaction.trace
        trace.record_reward("reward", turn.reward, weight=1.0)
        trace.record_metric("won", float(turn.won))
        trace.record_metric("steps", float(turn.steps))
        if turn.truncated:
            trace.stop("step_limit")


def _arena(data: GameData) -> Arena:
    return shared_arena(data.benchmark, data.settings)
