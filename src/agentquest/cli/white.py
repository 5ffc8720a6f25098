"""`agentquest white`: an agent to be assessed."""

from typing import Annotated

import typer

from agentquest.a2a_agents.installed import require_a2a
from agentquest.cli.green import CardUrl, DataPath, Host, LaunchId


def command(
    type_: Annotated[
        str,
        typer.Option(
            "--type",
            "--white-agent-type",
            help="llm, scripted, oracle, random, repetitive, alternating, react,"
            " or an agent of yours as package.module:Class.",
        ),
    ] = "llm",
    host: Host = "localhost",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 9002,
    card_url: CardUrl = None,
    benchmark: Annotated[str, typer.Option(help="Whose rules the baselines play by.")] = "alfworld",
    split: Annotated[str | None, typer.Option(help="Whose games the oracle knows.")] = None,
    data_path: DataPath = None,
    seed: Annotated[int, typer.Option(help="Of the random agent.")] = 42,
    launched_by: LaunchId = None,
) -> None:
    """Serve a white agent: one conversation a game, an action a turn.

    The llm type reads OPENAI_API_KEY, OPENAI_BASE_URL, WHITE_AGENT_MODEL,
    WHITE_AGENT_TEMPERATURE and WHITE_AGENT_REASONING.

    Example: agentquest white --type scripted --port 9002
    """
    require_a2a()
    from agentquest.a2a_agents.cards import white_card
    from agentquest.a2a_agents.serving import Place, application, serve
    from agentquest.a2a_agents.white import WhiteExecutor
    from agentquest.a2a_agents.white_agents import white_source
    from agentquest.running.assemble import make_benchmark

    given = {"split": split, "data_path": data_path}
    games = make_benchmark(benchmark, **{key: value for key, value in given.items() if value})
    source = white_source(type_, games)
    executor = WhiteExecutor(source.new_agent, seed)

    async def close() -> None:
        await executor.aclose()
        await source.close()

    place = Place(host, port, card_url)
    with place.take() as sock:
        url = place.url(sock)
        app = application(white_card(source.name, url, launched_by), executor, close)
        typer.echo(
            f"white agent ({source.name}) at {url} (port {sock.getsockname()[1]}); Ctrl-C stops it",
            err=True,
        )
        serve(app, sock, launched=launched_by is not None)
