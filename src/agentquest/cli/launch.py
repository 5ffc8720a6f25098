"""`agentquest launch`: a whole assessment with one command."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError

from agentquest.a2a.assessment_config import AssessmentConfig, CoverageMode, split_list
from agentquest.a2a.installed import require_a2a
from agentquest.a2a.llm_white import has_key
from agentquest.cli.green import AgentHeader, DataPath, LogDir, Resume
from agentquest.config.settings import DEFAULT_BENCHMARK
from agentquest.errors import ConfigError
from agentquest.lib.settings import in_words

if TYPE_CHECKING:
    from agentquest.a2a.launcher import Launch

_RULE = "=" * 70
_OWN_CONCURRENCY = 8


def command(
    env_type: Annotated[str, typer.Option(help="Environment type.")] = "AlfredTWEnv",
    train_eval: Annotated[
        str | None,
        typer.Option(help="train, eval_in_distribution or eval_out_of_distribution (default)."),
    ] = None,
    num_games: Annotated[int | None, typer.Option(help="Number of games; default 1.")] = None,
    max_steps: Annotated[
        int | None, typer.Option(help="Most steps per game; default: the benchmark's.")
    ] = None,
    task_types: Annotated[
        str | None, typer.Option(help='Comma-separated task types, such as "1,2,3"; default all.')
    ] = None,
    coverage_mode: Annotated[
        CoverageMode | None,
        typer.Option(help="How games are spread over task types; default standard."),
    ] = None,
    num_games_per_type: Annotated[
        int | None, typer.Option(help="Games per task type; overrides --num-games.")
    ] = None,
    white_agent_type: Annotated[
        str | None,
        typer.Option(
            help="llm, scripted, oracle, random, repetitive, alternating, react, or"
            " package.module:Class; default: llm if OPENAI_API_KEY is set, else scripted."
        ),
    ] = None,
    agent_url: Annotated[
        str | None, typer.Option(help="Test the agent at this URL; no white agent is started.")
    ] = None,
    agent_header: AgentHeader = None,
    benchmark: Annotated[
        str | None, typer.Option(help=f"Benchmark to play; default {DEFAULT_BENCHMARK}.")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(help="A named protocol that fixes what is played.")
    ] = None,
    repeat_goal: Annotated[
        bool, typer.Option("--repeat-goal", help="Repeat the goal in every turn.")
    ] = False,
    resume: Resume = False,
    concurrency: Annotated[
        int | None,
        typer.Option(help="Games at once; default 8, with --agent-url 1."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Decides which games are played; default 42.")
    ] = None,
    turn_timeout: Annotated[float, typer.Option(help="Seconds to wait for each answer.")] = 120.0,
    timeout: Annotated[float | None, typer.Option(help="Seconds for the whole assessment.")] = None,
    log_dir: LogDir = Path("logs"),
    data_path: DataPath = None,
    host: Annotated[str, typer.Option(help="Address both agents listen on.")] = "localhost",
    green_port: Annotated[int, typer.Option(min=0, max=65535, help="0 picks a free port.")] = 9001,
    white_port: Annotated[int, typer.Option(min=0, max=65535, help="0 picks a free port.")] = 9002,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the result as JSON; everything else goes to stderr."),
    ] = False,
) -> None:
    """Start a green and a white agent, run an assessment, and stop both.

    Example: agentquest launch --num-games 6 --white-agent-type scripted
    """
    require_a2a()
    from agentquest.a2a.addresses import is_address
    from agentquest.a2a.assessment import check_games
    from agentquest.a2a.headers import agent_headers
    from agentquest.a2a.launcher import Launch

    def say(text: str) -> None:
        typer.echo(text, err=as_json)

    default = _OWN_CONCURRENCY if agent_url is None else 1
    config = _config(
        env_type=env_type,
        train_eval=train_eval,
        num_games=num_games,
        max_steps=max_steps,
        task_types=split_list(task_types) if task_types is not None else None,
        coverage_mode=coverage_mode,
        num_games_per_type=num_games_per_type,
        benchmark=benchmark,
        concurrency=default if concurrency is None else concurrency,
        seed=seed,
        turn_timeout=turn_timeout,
        protocol=protocol,
        repeat_goal=repeat_goal,
    )
    if agent_url is not None and not is_address(agent_url):
        raise ConfigError("--agent-url: must be an address like http://localhost:9002/")
    check_games(config, data_path)
    say(f"{_RULE}\nAgentQuest A2A assessment ({config.benchmark})\n{_RULE}")
    launch = Launch(
        config=config,
        white_agent_type=_white_type(white_agent_type, agent_url, say),
        agent_url=agent_url,
        host=host,
        green_port=green_port,
        white_port=white_port,
        log_dir=log_dir.absolute(),
        data_path=data_path,
        timeout=timeout,
        resume=resume,
        headers=agent_headers(agent_header or ()),
    )
    _run(launch, say, as_json)


def _run(launch: "Launch", say: Callable[[str], None], as_json: bool) -> None:
    from agentquest.a2a import launcher

    try:
        result = launcher.run(launch, say)
    except launcher.Interrupted as error:
        typer.secho(f"agentquest: {error}", fg="red", err=True)
        raise typer.Exit(128 + error.number) from None
    if as_json:
        typer.echo(json.dumps(result.data, indent=2, ensure_ascii=False))
    if result.data.get("errors"):
        raise typer.Exit(1)


def _config(**given: object) -> AssessmentConfig:
    try:
        return AssessmentConfig.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        option = f"--{str(first['loc'][0]).replace('_', '-')}: " if first["loc"] else ""
        raise ConfigError(f"{option}{in_words(first['msg'])}") from None


def _white_type(wanted: str | None, agent_url: str | None, say: Callable[[str], None]) -> str:
    if wanted is not None:
        return wanted
    if agent_url is not None or has_key(os.environ):
        return "llm"
    say(
        "OPENAI_API_KEY is not set: using the scripted white agent, which follows rules.\n"
        "Set the key to test a model, or choose with --white-agent-type."
    )
    return "scripted"
