"""From a spec to a record: `play(spec)` is all that an executor needs."""

from collections.abc import Callable
from typing import Protocol

from agentquest.errors import UserError
from agentquest.lib import Driver, Episode, InformedAgent
from agentquest.records.episode import EpisodeRecord
from agentquest.running.episode import EpisodePlayer, OnStep
from agentquest.running.factory import Resources
from agentquest.running.spec import EpisodeSpec


async def play(
    spec: EpisodeSpec, resources: Resources | None = None, on_step: OnStep | None = None
) -> EpisodeRecord:
    """Play one episode. Without `resources` everything it needs is opened and closed again."""
    own = resources or Resources(spec.context)
    try:
        await own.open()
        return await make_player(spec, own).play(on_step)
    finally:
        if resources is None:
            await own.close()


def make_player(spec: EpisodeSpec, resources: Resources, worker: str = "") -> EpisodePlayer:
    """The environment and the agent of one episode, ready to play."""
    benchmark = resources.benchmark
    driver, agent = benchmark.driver(spec.task), resources.agent()
    if isinstance(agent, InformedAgent):
        oracle = benchmark.oracle(driver)
        if oracle is None:
            raise UserError(f"{benchmark.title} has no oracle")
        agent.oracle = oracle

    def told(driver: Driver) -> Episode:
        context = spec.context
        seed = context.model_seed
        return Episode(
            benchmark=context.benchmark.name,
            goal=driver.metrics.goal,
            task_type=spec.task.task_type,
            max_steps=context.limits.max_steps,
            seed=spec.seed,
            briefing=benchmark.briefing(driver, spec.task, agent.demonstrations_wanted),
            facts=driver.facts(),
            model_seed=None if seed is None else seed + spec.trial,
        )

    return EpisodePlayer(spec, driver, agent, told, benchmark.slow_steps, worker)


class Sink(Protocol):
    """Where an executor delivers what happens."""

    def started(self, spec: EpisodeSpec, worker: str) -> None:
        """An episode begins; `worker` says where, empty in this process."""
        ...

    def stepped(self, spec: EpisodeSpec, worker: str) -> OnStep:
        """What is to be called after each step of this episode."""
        ...

    async def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        """Called once per played episode; returns when the record is safe."""
        ...

    async def cut_short(self, record: EpisodeRecord) -> None:
        """An episode that was stopped half-way, whose calls have cost money."""
        ...


Prepare = Callable[[EpisodeSpec], EpisodePlayer]
