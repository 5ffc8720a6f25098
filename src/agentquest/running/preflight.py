"""One small request before anything is played, so that problems are reported at once."""

from agentquest.lib import Benchmark
from agentquest.running.factory import Resources, asks_a_model
from agentquest.running.spec import EpisodeSpec


async def preflight(spec: EpisodeSpec, benchmark: Benchmark) -> tuple[str, ...]:
    """Whether this episode's model can be asked, with tools where its agent calls them.

    Raises a `ModelError` whose one line says what is wrong; returns what is worth knowing.
    """
    context = spec.context
    if context.model is None or not asks_a_model(context.agent.name):
        return ()
    resources = Resources(context, benchmark)
    try:
        agent = resources.agent()
        if not agent.calls_tools:
            return await resources.model().preflight()
        driver = benchmark.driver(spec.task)
        driver.reset()
        briefing = benchmark.briefing(driver, spec.task, 0)
        return await resources.model().preflight(tools=briefing.tools)
    finally:
        await resources.close()
