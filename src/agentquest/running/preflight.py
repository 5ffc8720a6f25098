"""Before anything is played, an agent is made and its model asked one small thing.

What cannot work is said at once, in one line.
"""

from agentquest.lib import Benchmark
from agentquest.running.factory import Resources, asks_a_model, shares_something
from agentquest.running.spec import EpisodeSpec


async def preflight(spec: EpisodeSpec, benchmark: Benchmark) -> tuple[str, ...]:
    """Whether this episode's agent can be made, and its model asked (with tools if it calls them).

    Raises an error whose one line says what is wrong; returns what is worth knowing.
    """
    context = spec.context
    if shares_something(context.agent.name):
        return ()
    resources = Resources(context, benchmark)
    try:
        agent = resources.agent()
        if context.model is None or not asks_a_model(context.agent.name):
            return ()
        if not agent.calls_tools:
            return await resources.model().preflight()
        driver = benchmark.driver(spec.task)
        driver.reset()
        briefing = benchmark.briefing(driver, spec.task, 0)
        return await resources.model().preflight(tools=briefing.tools)
    finally:
        await resources.close()
