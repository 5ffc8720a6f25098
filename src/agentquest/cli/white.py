"""`agentquest white`: an agent to be assessed."""

from functools import partial
from typing import Annotated

import typer

from agentquest import registry
from agentquest.a2a import require_a2a
from agentquest.cli.green import AllowHost, CardUrl, DataPath, Host, LaunchId, Token
from agentquest.config.settings import DEFAULT_BENCHMARK


def command(
    type_: Annotated[
        str,
        typer.Option(
            "--type",
            "--white-agent-type",
            help="llm, scripted, oracle, random, repetitive, alternating, react,"
            " or your own agent as package.module:Class.",
        ),
    ] = "llm",
    host: Host = "localhost",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 picks a free port.")] = 9002,
    card_url: CardUrl = None,
    benchmark: Annotated[
        str, typer.Option(help="Benchmark that the baselines play.")
    ] = DEFAULT_BENCHMARK,
    split: Annotated[str | None, typer.Option(help="Split whose games the oracle knows.")] = None,
    data_path: DataPath = None,
    seed: Annotated[int, typer.Option(help="Seed of the random agent.")] = 42,
    token: Token = None,
    allow_host: AllowHost = None,
    launched_by: LaunchId = None,
) -> None:
    """Serve a white agent: one conversation per game, one action per turn.

    The llm type reads OPENAI_API_KEY, OPENAI_BASE_URL, WHITE_AGENT_MODEL,
    WHITE_AGENT_TEMPERATURE and WHITE_AGENT_REASONING.

    Example: agentquest white --type scripted --port 9002
    """
    require_a2a()
    from agentquest.a2a.serving import ServerSettings, serve_agent
    from agentquest.a2a.white import WhiteExecutor, make_source, white_card
    from agentquest.running.factory import make_benchmark

    given = {"split": split, "data_path": data_path}
    known = registry.load("benchmark", benchmark).Settings.model_fields
    chosen = {key: value for key, value in given.items() if value and key in known}
    source = make_source(type_, make_benchmark(benchmark, chosen))
    executor = WhiteExecutor(source, seed)
    server = ServerSettings(host, port, card_url, allow_host or (), token, launched_by)
    make_card = partial(white_card, source.name)
    serve_agent(server, make_card, executor, partial(typer.echo, err=True), executor.serving())
