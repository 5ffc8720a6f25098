"""What a benchmark's players must keep to, and what they may know."""

import functools
import pickle
import types
import weakref
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from agentquest.lib import (
    Agent,
    Benchmark,
    Driver,
    Explorer,
    InformedAgent,
    Metrics,
    Observation,
    Oracle,
    State,
    Task,
)
from agentquest.records.episode import EpisodeRecord
from agentquest.running.checks.subject import Problems, Subject, carry_out, check, show, transcript
from agentquest.running.episode import EpisodePlayer
from agentquest.running.factory import Resources
from agentquest.running.play import make_player, play, run_in_thread
from agentquest.running.spec import Choice, EpisodeSpec, RunContext

_FORBIDDEN = (Driver, Benchmark, Metrics, State, Oracle, EpisodePlayer, Resources)
_HARMLESS = (Observation, tuple, frozenset, type, types.BuiltinFunctionType)
_AGENTS = ("random", "scripted", "react", "tools")
_STEPS = 6
_LEAVES = (str, bytes, int, float, complex, bool, type(None), types.ModuleType, Enum)


@check(
    "Plan from where the driver stands, change nothing while planning, and set step_limit so "
    "that the task can be done; return None from oracle() if there is none."
)
def oracle(subject: Subject) -> Problems:
    """The oracle wins, by commands that are accepted."""
    for task in subject.tasks:
        driver, first = subject.open(task)
        knows = subject.benchmark.oracle(driver)
        if knows is None:
            continue
        plan = knows.plan()
        if not plan or knows.plan() != plan:
            yield f"{task.id}: the plan is {show(plan)}; asked again, {show(knows.plan())}"
        for _ in range(subject.benchmark.step_limit):
            plan = knows.plan()
            if not plan or driver.outcome.done:
                break
            if not carry_out(driver, plan[0]).valid:
                yield f"{task.id}: {plan[0]!r} of the plan is not accepted"
        if not driver.outcome.success:
            yield f"{task.id}: the oracle does not win within {subject.benchmark.step_limit} steps"
        elif knows.plan():
            yield f"{task.id}: there is still a plan when the task is solved"
        if transcript(driver, [])[0].text != first.text:
            yield f"{task.id}: asking the oracle changed the game"


@check(
    "Return a fresh Explorer that reads only the text; let it give up its plan when a command "
    "was refused."
)
def explorer(subject: Subject) -> Problems:
    """The rule-based player gives commands that are accepted."""
    for task in subject.tasks:
        driver, observation = subject.open(task)
        player = subject.benchmark.explorer()
        if not isinstance(player, Explorer) or player is subject.benchmark.explorer():
            yield "explorer() does not give a fresh Explorer"
            return
        for _ in range(subject.benchmark.step_limit):
            if driver.outcome.done:
                break
            command = player.choose(observation)
            if not isinstance(command, str) or not isinstance(player.thought, str):
                yield f"{task.id}: the command is {show(command)}, the thought {player.thought!r}"
                break
            observation = carry_out(driver, command)
            if not observation.valid:
                yield f"{task.id}: {command!r} is not accepted"


@check("Keep settings and tasks plain, and seed whatever is random by the task.")
def records(subject: Subject) -> Problems:
    """Episodes travel as specs and come back as records, the same every time."""
    for task in subject.tasks:
        agents = list(_AGENTS)
        if subject.benchmark.oracle(subject.open(task)[0]) is not None:
            agents.append("oracle")
        for name in agents:
            spec = _spec(subject, task, name)
            if pickle.loads(pickle.dumps(spec)) != spec:
                yield f"{task.id}: the spec changes when it is pickled"
            shared = Resources(spec.context, subject.benchmark)
            record, again = (run_in_thread(play(spec, shared)) for _ in range(2))
            where = f"{task.id}, played by {name}"
            if record.error is not None:
                yield f"{where}: {record.error.source} failed: {record.error.message}"
            if EpisodeRecord.model_validate_json(record.model_dump_json()) != record:
                yield f"{where}: the record changes when it is written and read back"
            if _actions(record) != _actions(again):
                yield f"{where}: the second episode differs from the first"


@check(
    "Give agents text only: no driver, benchmark or state in briefings, observations and explorers."
)
def secrecy(subject: Subject) -> Problems:
    """An agent cannot reach the game, its state or its plan."""
    for task in subject.tasks:
        for name in _AGENTS:
            spec = _spec(subject, task, name)
            shared = Resources(spec.context, subject.benchmark)
            found = run_in_thread(find_leaks_while_playing(spec, shared))
            yield from (f"{task.id}, agent {name}: {problem}" for problem in dict.fromkeys(found))


async def find_leaks_while_playing(spec: EpisodeSpec, resources: Resources) -> list[str]:
    """What the agent of an episode can reach but must not, checked after every step."""
    await resources.open()
    player = make_player(spec, resources)
    problems: list[str] = []
    await player.play(lambda step, prompt: problems.extend(find_leaks(player.agent, player.driver)))
    return problems


def find_leaks(agent: Agent, driver: Driver) -> list[str]:
    """The ways from an agent to its game, or to something that is part of the game."""
    game = reachable(driver, classes=False)
    plan = list(driver.metrics.milestones)
    problems = []
    for thing, way in reachable(agent).values():
        if isinstance(thing, _FORBIDDEN):
            problems.append(f"{way} is a {type(thing).__name__}")
        elif id(thing) in game and not isinstance(thing, _HARMLESS):
            problems.append(f"{way} is part of the game: {show(thing)}")
        elif len(plan) > 1 and isinstance(thing, list | tuple) and list(thing) == plan:
            problems.append(f"{way} is the plan")
    if isinstance(agent, InformedAgent):
        problems.append("the agent is an InformedAgent")
    return problems


def _spec(subject: Subject, task: Task, agent: str) -> EpisodeSpec:
    context = RunContext(
        run_id="check",
        config_hash="0" * 64,
        benchmark=Choice(subject.name, subject.settings),
        agent=Choice(agent),
        max_steps=subject.benchmark.step_limit if agent == "oracle" else _STEPS,
    )
    return EpisodeSpec(context, task, seed=1)


def _actions(record: EpisodeRecord) -> Sequence[Any]:
    return [(step.action, step.observation, step.valid, step.progress) for step in record.steps]


def reachable(*roots: Any, classes: bool = True) -> dict[int, tuple[Any, str]]:
    """Every object that attributes, containers and closures lead to, by its id, with the path.

    Python hides nothing from code that looks into frames or the garbage collector; this is
    about what an agent holds, or is handed, in the ordinary way. With `classes`, what is kept
    in classes is followed too.
    """
    found: dict[int, tuple[Any, str]] = {}
    waiting = [(root, type(root).__name__) for root in roots]
    while waiting:
        thing, way = waiting.pop()
        if isinstance(thing, _LEAVES) or id(thing) in found:
            continue
        found[id(thing)] = (thing, way)
        waiting += [(inner, way + step) for step, inner in _within(thing, classes)]
    return found


def _within(thing: Any, classes: bool) -> Iterator[tuple[str, Any]]:
    match thing:
        case type():
            if classes and thing.__module__ != "builtins":
                kept = {k: v for k, v in vars(thing).items() if not k.startswith("__")}
                yield from _name_each(kept)
        case Mapping():
            yield from ((f"[{key!r}]"[:40], value) for key, value in thing.items())
            yield from (("<key>", key) for key in thing)
        case list() | tuple() | set() | frozenset():
            yield from ((f"[{place}]", item) for place, item in enumerate(thing))
        case types.FunctionType():
            yield from _closed_over(thing)
        case types.MethodType():
            yield ".__self__", thing.__self__
            yield ".__func__", thing.__func__
        case types.BuiltinFunctionType():
            yield ".__self__", thing.__self__
        case functools.partial():
            yield from ((".func", thing.func), (".args", thing.args), (".kwargs", thing.keywords))
        case property():
            yield from ((".fget", thing.fget), (".fset", thing.fset))
        case staticmethod() | classmethod():
            yield ".__func__", thing.__func__
        case weakref.ref():
            yield "()", thing()
    if not isinstance(thing, type | types.FunctionType):
        yield from _attributes(thing)
        yield "<class>", type(thing)


def _attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    yield from _name_each(getattr(thing, "__dict__", {}))
    for owner in type(thing).__mro__:
        for name, slot in vars(owner).items():
            if isinstance(slot, types.MemberDescriptorType) and hasattr(thing, name):
                yield f".{name}", getattr(thing, name)


def _closed_over(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield f".<closure {name}>", cell.cell_contents
        except ValueError:  # not filled yet
            continue
    yield from (("<default>", value) for value in function.__defaults__ or ())
    yield from _name_each(function.__kwdefaults__ or {})


def _name_each(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((f".{name}", value) for name, value in values.items())
