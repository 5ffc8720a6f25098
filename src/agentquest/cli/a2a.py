"""The servers of A2A: `agentquest green` assesses agents, `agentquest white` is assessed.

`agentquest serve-a2a`, which AgentBeats calls `run`, is for controllers of containers.
"""

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from agentquest import registry
from agentquest.a2a import require_a2a
from agentquest.cli.serving_options import Host, InsecureNoToken, Port
from agentquest.config.settings import DEFAULT_BENCHMARK
from agentquest.errors import ConfigError
from agentquest.http.access import Access
from agentquest.safe_text import say
from agentquest.words import parse_whole_number

CardUrl = Annotated[
    str | None, typer.Option(help="Public URL for the agent card (also: AGENT_URL).")
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        help="Another host name that requests may use, as behind a gateway; * for any.",
        envvar="AGENTQUEST_ALLOW_HOST",
    ),
]
AgentHeader = Annotated[
    list[str] | None,
    typer.Option(
        help="Header for the agent under test, as `Name: value`; `Name: $VARIABLE` reads the value"
        " from the environment, so that it does not show in process lists.",
    ),
]
AllowAgent = Annotated[
    list[str] | None,
    typer.Option(
        help="A host (and port) whose agents may be tested, besides this machine; * for any.",
        envvar="AGENTQUEST_ALLOW_AGENT",
    ),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Resume the unfinished run of the same request, if any."),
]
LaunchId = Annotated[str | None, typer.Option(hidden=True)]
LogDir = Annotated[Path, typer.Option(help="Folder for run logs.", envvar="AGENTQUEST_LOG_DIR")]
DataPath = Annotated[str | None, typer.Option(help="Folder with the official data, or `builtin`.")]


def serve_green(
    host: Host = "localhost",
    port: Port = 9001,
    card_url: CardUrl = None,
    log_dir: LogDir = Path("logs"),
    data_path: DataPath = None,
    allow_agent: AllowAgent = None,
    agent_header: AgentHeader = None,
    insecure_no_token: InsecureNoToken = False,
    allow_host: AllowHost = None,
    max_assessments: Annotated[int, typer.Option(min=1, help="Most assessments at once.")] = 4,
    resume: Resume = False,
    agent_proxy: Annotated[
        str | None,
        typer.Option(
            help="Where to reach agents whose URL says localhost, when running in a container.",
            envvar="GATEWAY_PROXY_URL",
        ),
    ] = None,
    launched_by: LaunchId = None,
) -> None:
    """Serve the green agent, which assesses the agents named in requests.

    Example: agentquest green --port 9001
    """
    require_a2a()
    from agentquest.a2a.addresses import AllowList
    from agentquest.a2a.green import GreenExecutor, GreenSettings, green_card
    from agentquest.a2a.launcher import read_agent_headers
    from agentquest.a2a.serving import ServerSettings, serve_agent

    try:
        allowed = AllowList([*(allow_agent or ()), *([agent_proxy] if agent_proxy else [])])
    except ValueError as error:
        raise ConfigError(f"--allow-agent or --agent-proxy: {error}") from None
    settings = GreenSettings(
        log_root=log_dir,
        data_path=data_path,
        allowed=allowed,
        headers=read_agent_headers(agent_header or ()),
        max_assessments=max_assessments,
        resume=resume,
        agent_proxy=agent_proxy or None,
    )
    access = Access.read(host, allow_host, insecure_no_token)
    server = ServerSettings(access, port, card_url, launched_by)
    serve_agent(server, green_card, GreenExecutor(settings), partial(say, err=True))


def serve_white(
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
    port: Port = 9002,
    card_url: CardUrl = None,
    benchmark: Annotated[
        str, typer.Option(help="Benchmark that the baselines play.")
    ] = DEFAULT_BENCHMARK,
    split: Annotated[str | None, typer.Option(help="Split whose games the oracle knows.")] = None,
    data_path: DataPath = None,
    seed: Annotated[int, typer.Option(help="Seed of the random agent.")] = 42,
    insecure_no_token: InsecureNoToken = False,
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
    access = Access.read(host, allow_host, insecure_no_token)
    server = ServerSettings(access, port, card_url, launched_by)
    make_card = partial(white_card, source)
    serve_agent(server, make_card, executor, partial(say, err=True), executor.serving())


def serve_by_role() -> None:
    """Serve the agent that the environment variable ROLE names, on HOST:AGENT_PORT.

    For controllers that start agents in containers; ROLE is green or white.

    Example: ROLE=white HOST=0.0.0.0 AGENT_PORT=9002 agentquest serve-a2a
    """
    role, host = _read_variable("ROLE", ""), _read_variable("HOST", "127.0.0.1")
    text = _read_variable("AGENT_PORT", "9000")
    port = parse_whole_number(text)
    if port is None or port > 65535:
        raise ConfigError(f"AGENT_PORT must be a port number, not {text!r}")
    if role not in ("green", "white"):
        raise ConfigError(
            f"ROLE must be green or white, not {role!r}; `agentquest eval` runs an evaluation"
        )
    # As a command of its own, so that its variables are read too: a token above all.
    from agentquest.cli.app import main

    main([role, "--host", host, "--port", str(port)])


def _read_variable(name: str, default: str) -> str:
    return os.environ.get(name) or os.environ.get(name.lower()) or default
