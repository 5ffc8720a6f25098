"""AgentQuest from Python: evaluate an agent, play one game, read a run.

    import agentquest

    result = agentquest.evaluate("run.yaml", agent=MyAgent, num_games=12)
    print(result.summary["success_rate"], result.path)
    pandas.DataFrame(result.to_rows())

Settings have the names that a YAML file gives them, nested (`llm={"model": …}`) or
flat (`model=…`); see docs/evaluator.md. The command line is made of the same
functions. All of it works where an event loop is running already, as in a notebook.
"""

import asyncio
import inspect
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from agentquest.config import RunConfig, load_config
from agentquest.errors import ConfigError
from agentquest.lib import Agent
from agentquest.records.episode import EpisodeRecord
from agentquest.running.events import Broadcast, RunEvents
from agentquest.running.play import play as play_episode
from agentquest.running.play import preflight, run_in_thread
from agentquest.running.run import Run
from agentquest.running.sinks import open_sinks
from agentquest.running.spec import EpisodeSpec
from agentquest.store.folder import EPISODES, MANIFEST, RESULTS
from agentquest.store.stored_run import StoredRun as RunResult

__all__ = ["RunResult", "evaluate", "load_run", "play"]

AgentChoice = str | type[Agent] | Mapping[str, Any]
PathLike = str | os.PathLike[str]


def evaluate(
    config: PathLike | None = None,
    *,
    agent: AgentChoice | None = None,
    resume: bool | Literal["refuse", "warn", "ignore"] = True,
    watcher: RunEvents | None = None,
    **settings: Any,
) -> RunResult:
    """Play an agent on the tasks of a benchmark and write everything down.

    `config` is a YAML file and `settings` override it. `agent` is a registered
    name, `package.module:Class`, or a class of your own, also one from a notebook. The
    same settings and code resume the run and play only the rest. `resume` says what happens
    after a change of your own code: `"refuse"`, `"warn"` or `"ignore"`; by default a named run
    is refused and any other one starts anew. `resume=False` always starts a new run, beside the
    old one. Ctrl-C keeps what is finished.
    """
    if isinstance(resume, str):
        settings = {**settings, "resume": resume}
    run = Run(_build_config(config, agent, settings))
    if not resume:
        run = start_anew(run)

    pending, remarks = run_in_thread(prepare_run(run))
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    stop = asyncio.Event()
    return run_in_thread(play_pending(run, pending, watcher, stop), stop)


def play(
    benchmark: str,
    task: str | None = None,
    agent: AgentChoice | None = None,
    **settings: Any,
) -> EpisodeRecord:
    """Play one game and return its record; nothing is written.

    `task` is a task's id or a part that fits only one; without it the first that
    the seed chooses is played.
    """
    chosen: dict[str, Any] = {"num_games": 1} if task is None else {"tasks": [task]}
    run = Run(_build_config(None, agent, {"benchmark": benchmark, **chosen, **settings}))
    return run_in_thread(play_episode(run.specs[0]))


def load_run(path: PathLike) -> RunResult:
    """A run directory: its manifest at once, its records when they are asked for."""
    return RunResult(Path(path))


async def prepare_run(
    run: Run, say: Callable[[str], None] | None = None
) -> tuple[list[EpisodeSpec], tuple[str, ...]]:
    """What a run has still to play, and warnings about its model.

    The model is tried before a run directory is made: a wrong key or name leaves none behind.
    `say` is told of it first, as an answer may take long.
    """
    resumed = run.directory.exists
    if resumed:
        run.directory.refuse_if_in_use()
    pending = run.prepare() if resumed else run.specs
    if pending:
        await run.identify_agent()
    remarks = await try_model(run, say) if pending else ()
    pending = run.prepare()
    return pending, (*run.remarks, *remarks)


async def try_model(run: Run, say: Callable[[str], None] | None = None) -> tuple[str, ...]:
    """Ask a run's model one small thing, unless it is not to be asked; what is worth knowing.

    Raises an error that says what is wrong.
    """
    if not run.config.preflight:
        return ()
    llm = run.config.llm
    if say is not None and run.model_name is not None and llm and llm.provider != "scripted":
        say(f"asking {name_model(run)} …")
    return await preflight(run.specs[0], run.benchmark)


def name_model(run: Run) -> str:
    """The model and where it is, as messages name it."""
    where = run.config.llm.settings.get("base_url") if run.config.llm else None
    return f"{run.model_name}{f' at {where}' if where else ''}"


async def play_pending(
    run: Run,
    pending: Sequence[EpisodeSpec],
    watcher: RunEvents | None = None,
    stop: asyncio.Event | None = None,
) -> RunResult:
    """Play the rest of a prepared run, keeping results.json up to date, until `stop` is set."""
    result = run.stored
    if pending:
        sinks = open_sinks(run.config.sinks, run.stored.manifest, run.directory.path)
        events, stop = Broadcast([watcher or RunEvents(), *sinks]), stop or asyncio.Event()
        with run.discard_if_unplayable():
            try:
                result.reason = await run.play(pending, events, stop, result.save_results)
            finally:
                for sink in sinks:
                    await asyncio.to_thread(sink.close, result.summary)
    elif _results_lag(run.directory.path):
        with run.directory.lock():
            result.save_results()
    return result


def _build_config(
    file: PathLike | None, agent: AgentChoice | None, settings: Mapping[str, Any]
) -> RunConfig:
    given = {key: _name_class(key, value) for key, value in settings.items()}
    if isinstance(agent, Mapping):
        given["agent"] = {key: _name_class("agent", value) for key, value in agent.items()}
    elif agent is not None:
        given["agent"] = {"name": _name_class("agent", agent)}
    config, warned = load_config(None if file is None else Path(file), settings=given)
    for text in warned:
        warnings.warn(text, stacklevel=3)
    return config


def _name_class(what: str, value: Any) -> Any:
    """A class as the dotted path that finds it again, here and in other processes."""
    if not inspect.isclass(value):
        return value
    if "<locals>" in value.__qualname__:
        raise ConfigError(
            f"{what}: {value.__qualname__} is defined inside a function, where nothing can find it"
            " again; define it at the top of a module or notebook"
        )
    return f"{value.__module__}:{value.__qualname__}"


def start_anew(run: Run) -> Run:
    """The run itself, or the same in a new folder beside one that exists."""
    if not run.directory.exists:
        return run
    return Run(run.config.model_copy(update={"run_name": free_name(run.directory.path)}))


def free_name(folder: Path) -> str:
    """A run name that is not taken yet: `run`, `run-2`, `run-3`, …"""
    number = 2
    while (folder.parent / f"{folder.name}-{number}").exists():
        number += 1
    return f"{folder.name}-{number}"


def _results_lag(folder: Path) -> bool:
    """Whether results.json is older than what it tells: a run was killed after its last episode,
    or has got a price or a metric since."""
    results, episodes, manifest = folder / RESULTS, folder / EPISODES, folder / MANIFEST
    if not episodes.is_file():
        return False
    newest = max(file.stat().st_mtime for file in (episodes, manifest))
    return not results.is_file() or results.stat().st_mtime < newest
