"""Before anything is played: make an agent and ask its model one small thing, so that problems are
reported at once."""

from agentquest.lib import Benchmark
from agentquest.running.factory import Resources, asks_a_model, shares_something
from agentquest.running.spec import EpisodeSpec


async def preflight(spec: EpisodeSpec, benchmark: Benchmark) -> tuple[str, ...]:
    """Whether this episode's agent can be made, and its model asked (with tools if it calls them).

    Raises an error whose one line says what is wrong; returns what is worth knowing.
    """
    context = spec.context
    asks = context.model is not None and asks_a_model(context.agent.name)
    resources = Resources(context, benchmark)
    try:
        # What agents share is opened when they play: those that share something are made then.
        agent = None if shares_something(context.agent.name) else resources.agent()
        if not asks:
            return ()
        if agent is None or not agent.calls_tools:
            return await resources.model().preflight()
        driver = benchmark.driver(spec.task)
        driver.reset()
        briefing = benchmark.briefing(driver, spec.task, 0)
        return await resources.model().preflight(tools=briefing.tools)
    finally:
        await resources.close()
