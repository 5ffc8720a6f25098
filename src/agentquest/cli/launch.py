"""`agentquest launch`: a whole assessment with one command."""

import asyncio
import inspect
import os
import time
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from agentquest.a2a import require_a2a
from agentquest.a2a.config import AssessmentConfig
from agentquest.cli.a2a import AgentHeader, DataPath, LogDir, Resume
from agentquest.cli.terminal import say_json, warn
from agentquest.errors import ConfigError, UserError
from agentquest.lib.settings import describe_fields, validate_settings
from agentquest.safe_text import say

if TYPE_CHECKING:
    from agentquest.a2a.launcher import Launch

_RULE = "=" * 70
_OWN_CONCURRENCY = 8
_SCRIPTED = "scripted"
_NO_KEY = (
    "OPENAI_API_KEY is not set: using the scripted white agent, which follows rules.\n"
    "Set the key to test a model, or choose with --white-agent-type."
)
# Settings for comparisons and for platforms, which only requests have; and rare ones.
_REQUEST_ONLY = ("invalid_policy", "num_instances", "num_shards", "shard_index")
_LAST = ("repeat_goal", "env_type")
# As other commands call it, beside the name in requests.
_ALSO = {"train_eval": ("--split",)}


def _with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes `**settings` an option for each setting of an assessment."""
    *own, _ = inspect.signature(command).parameters.values()
    fields, texts = AssessmentConfig.model_fields, describe_fields(AssessmentConfig)
    settings = [
        _option(name, fields[name], texts[name]) for name in fields if name not in _REQUEST_ONLY
    ]
    settings.sort(key=lambda option: option.name in _LAST)
    command.__signature__ = inspect.Signature([*settings, *own])  # type: ignore[attr-defined]
    return command


def _option(name: str, field: FieldInfo, text: str) -> inspect.Parameter:
    """The option of a setting; None means not given, so that defaults stand in one place."""
    kinds = [kind for kind in (field.annotation, *get_args(field.annotation)) if _is_option(kind)]
    default = field.default.value if isinstance(field.default, Enum) else field.default
    shown = f" Default: {default}." if default not in (None, False) else ""
    option = typer.Option(
        f"--{name.replace('_', '-')}", *_ALSO.get(name, ()), help=f"{text}{shown}"
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=None,
        annotation=Annotated[(kinds[0] if kinds else str) | None, option],
    )


def _is_option(kind: Any) -> bool:
    # On Python 3.10 `list[int]` counts as a class.
    is_class = inspect.isclass(kind) and get_origin(kind) is None
    return is_class and issubclass(kind, int | float | Enum)


@_with_settings
def command(
    white_agent_type: Annotated[
        str | None,
        typer.Option(
            help="llm, scripted, oracle, random, repetitive, alternating, react, or"
            " package.module:Class; default: llm if the environment has a key (OPENAI_API_KEY,"
            " API_KEY), else scripted."
        ),
    ] = None,
    agent_url: Annotated[
        str | None, typer.Option(help="Test the agent at this URL; no white agent is started.")
    ] = None,
    agent_header: AgentHeader = None,
    resume: Resume = False,
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
    **settings: Any,
) -> None:
    """Start a green and a white agent, run an assessment, and stop both.

    Example: agentquest launch --num-games 6 --white-agent-type scripted
    """
    require_a2a()
    from agentquest.a2a.addresses import find_fault
    from agentquest.a2a.launcher import Launch, read_agent_headers
    from agentquest.a2a.llm_white import OWN, needs_model, read_model_settings, try_model
    from agentquest.http.sockets import free_port
    from agentquest.running.factory import agent_class

    def tell(text: str) -> None:
        say(text, err=as_json)

    if settings["concurrency"] is None and agent_url is None:
        settings["concurrency"] = _OWN_CONCURRENCY
    config = validate_settings(AssessmentConfig, settings)
    if agent_url is not None and (fault := find_fault(agent_url)):
        raise ConfigError(f"--agent-url: {fault}")
    config.select_games(config.make_benchmark(data_path))  # raises if there are no such games
    white = white_agent_type or _choose_white_type(agent_url)
    asks_model = agent_url is None and needs_model(white)
    if agent_url is None and white not in OWN and agent_class(white).needs_keyboard:
        raise UserError(
            f"a launched agent has no keyboard: start `agentquest white --type {white}` in a"
            " terminal of its own, and name its address with --agent-url"
        )
    tell(f"{_RULE}\nAgentQuest A2A assessment ({config.benchmark})\n{_RULE}")
    if white_agent_type is None and white == _SCRIPTED:
        tell(_NO_KEY)
    if asks_model:
        model = read_model_settings(os.environ)
        tell(f"asking {model.model} at {model.base_url} …")
        for remark in asyncio.run(try_model(os.environ)):
            tell(f"note: {remark}")
    given_port, white_port = white_port, white_port or free_port(host)
    launch = Launch(
        config=config,
        white_agent_type=white,
        agent_url=agent_url,
        host=host,
        green_port=green_port,
        white_port=white_port,
        log_dir=log_dir.absolute(),
        data_path=data_path,
        timeout=timeout,
        resume=resume,
        headers=read_agent_headers(agent_header or ()),
    )
    # The address of the agent belongs to its run, so a port that we picked has to be named.
    port = "" if given_port or agent_url is not None else f" --white-port {white_port}"
    _run(launch, tell, as_json, f"--resume{port}")


def _run(launch: "Launch", tell: Callable[[str], None], as_json: bool, resume: str) -> None:
    from agentquest.a2a import launcher

    begun = time.time()
    try:
        result = launcher.run(launch, tell)
    except launcher.Interrupted as error:
        say(f"agentquest: {error}", fg="red", err=True)
        warn(_where_to_continue(launch.log_dir, begun, resume))
        raise typer.Exit(128 + error.number) from None
    if as_json:
        say_json(result.data)
    if result.data.get("errors"):
        raise typer.Exit(1)


def _where_to_continue(log_dir: Path, begun: float, resume: str) -> str:
    """What an interrupted assessment has left behind, and how to play the rest."""
    runs = [run for run in log_dir.glob("run_*") if run.is_dir()]
    newest = max(runs, key=lambda run: run.stat().st_mtime, default=None)
    if newest is None or newest.stat().st_mtime < begun - 1:
        return "no game was played yet"
    return f"its games are in {newest}; the same command with {resume} plays the rest"


def _choose_white_type(agent_url: str | None) -> str:
    from agentquest.a2a.llm_white import find_service

    return "llm" if agent_url is not None or find_service(os.environ) else _SCRIPTED
