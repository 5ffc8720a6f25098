"""Episodes of a given agent object, without configuration or files."""

from typing import Any

from agentquest.lib import Agent, Benchmark, Episode
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import AgentFaults
from agentquest.running.episode import EpisodePlayer
from agentquest.running.factory import Resources, make_benchmark
from agentquest.running.play import make_player, play
from agentquest.running.run import Run
from agentquest.running.spec import Choice, EpisodeSpec, RunContext

HOMES = {"data_path": "builtin"}


def builtin_homes() -> Benchmark:
    return make_benchmark("alfworld", HOMES)


def a_context(agent: str = "random", **given: Any) -> RunContext:
    limits = {key: given.pop(key) for key in ("max_steps", "step_timeout_s") if key in given}
    return RunContext(
        run_id="run",
        config_hash="hash",
        benchmark=Choice("alfworld", HOMES),
        agent=Choice(agent),
        **limits,
        **given,
    )


class Given(Resources):
    """Resources whose agents are made by a function of the test's own."""

    def __init__(self, context: RunContext, benchmark: Benchmark, new_agent: Any) -> None:
        super().__init__(context, benchmark)
        self._new_agent = new_agent

    def agent(self) -> Agent:
        made: Agent = self._new_agent()
        return made


def a_player(
    benchmark: Benchmark, agent: Agent, place: int = 0, trial: int = 1, seed: int = 3, **given: Any
) -> EpisodePlayer:
    context = a_context(**given)
    spec = EpisodeSpec(context, benchmark.tasks()[place], trial, seed)
    return make_player(spec, Given(context, benchmark, lambda: agent))


def named_agent(name: str, benchmark: Benchmark) -> Agent:
    return Resources(a_context(name), benchmark).agent()


def an_episode(benchmark: Benchmark, place: int = 0, examples: int = 0, **given: Any) -> Episode:
    """What an agent is told of a task."""
    task = benchmark.tasks()[place]
    driver = benchmark.driver(task)
    driver.reset()
    known: dict[str, Any] = {
        "benchmark": benchmark.name,
        "goal": driver.metrics.goal,
        "task_type": task.task_type,
        "max_steps": 50,
        "seed": 0,
        "briefing": benchmark.briefing(driver, task, examples),
        "facts": driver.facts(),
    }
    return Episode(**{**known, **given})


LOSE = AgentFaults.LOSE


async def play_unrecorded(run: Run) -> list[EpisodeRecord]:
    """Play all of a run one by one, without a directory."""
    resources = Resources(run.context, run.benchmark)
    try:
        return [await play(spec, resources) for spec in run.specs]
    finally:
        await resources.close()
