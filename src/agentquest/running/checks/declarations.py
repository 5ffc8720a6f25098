"""What a benchmark declares about itself."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from agentquest import registry
from agentquest.errors import UnknownName
from agentquest.lib import BenchmarkSettings, Briefing, TerminalView
from agentquest.lib.commands import BLANK
from agentquest.lib.settings import describe_fields
from agentquest.records.manifest import Provenance, Verbs
from agentquest.records.messages import ToolSpec
from agentquest.running.checks.subject import Problems, Subject, carry_out, check, show
from agentquest.words import counted

_KINDS_OF_DATA = ("real", "builtin", "generated")
_NONSENSE = "no-such-thing"


@check(
    "Declare name, title, splits and task_types; read data in tasks() and driver(), with "
    "defaults that need no download."
)
def made(subject: Subject) -> Problems:
    """It can be made from its name and settings, and has tasks."""
    if not subject.tasks:
        yield "there are no tasks"


@check("See the class attributes of agentquest.lib.Benchmark.")
def declarations(subject: Subject) -> Problems:
    """What it declares is complete and typed."""
    found = type(subject.benchmark)
    filled: tuple[tuple[str, type], ...] = (
        ("name", str),
        ("title", str),
        ("task_types", tuple),
        ("splits", Mapping),
    )
    for name, kind in filled:
        value = getattr(found, name, None)
        if not isinstance(value, kind) or not value:
            yield f"{name} is {show(value)}, not a non-empty {kind.__name__}"
    for name, kind in (("verbs", Verbs), ("slow_steps", bool), ("step_limit", int)):
        if type(getattr(found, name)) is not kind:
            yield f"{name} is {show(getattr(found, name))}, not a {kind.__name__}"
    if not all(isinstance(action, str) and action for action in found.actions):
        yield f"actions are {show(found.actions)}, not commands"
    if ":" not in subject.name and found.name != subject.name:
        yield f"name is {found.name!r}, but it is registered as {subject.name!r}"
    if len(set(found.task_types)) != len(found.task_types):
        yield "a task type is declared twice"
    for aliases, known in (
        (found.split_aliases, found.splits),
        (found.task_type_aliases, found.task_types),
    ):
        yield from (
            f"alias {alias!r} points to {name!r}, which does not exist"
            for alias, name in aliases.items()
            if name not in known
        )
    for path in (*found.metrics, *found.commands.values()):
        registry.load_object("declared", path)


@check(
    "Subclass BenchmarkSettings, write a text under each field, and let the base class read "
    "splits and task types."
)
def settings(subject: Subject) -> Problems:
    """Settings are documented, reject unknown names, and survive JSON."""
    model: Any = type(subject.benchmark).Settings
    if not issubclass(model, BenchmarkSettings):
        yield f"Settings is {model.__name__}, not a subclass of BenchmarkSettings"
        return
    yield from (
        f"setting {name!r} has no description"
        for name, text in describe_fields(model).items()
        if not text
    )
    try:
        model(**{_NONSENSE: 1})
        yield "an unknown setting is accepted"
    except ValidationError:
        pass
    used = subject.benchmark.settings
    if model.model_validate(used.model_dump(mode="json")) != used:
        yield "settings change when written to JSON and read back"
    for key, value in (("split", _NONSENSE), ("task_types", [_NONSENSE])):
        try:
            subject.make(**{key: value})
            yield f"{key}={value!r} is accepted"
        except UnknownName:
            pass


@check(
    "Sort the tasks and name them by what they are made from, never by a file's place or the "
    "time; return only self.wanted_types."
)
def tasks(subject: Subject) -> Problems:
    """Task ids are unique and stable, types and splits are the declared ones."""
    found, all_tasks = subject.benchmark, subject.all_tasks
    if not all_tasks:
        yield f"there is no task in split {found.split!r}"
    if len({task.id for task in all_tasks}) != len(all_tasks):
        yield "two tasks have the same id"
    if subject.make().tasks() != all_tasks:
        yield "the tasks or their order differ when asked again"
    for task in all_tasks:
        needed = {**vars(task), "file": "is optional"}
        if not all(isinstance(text, str) and text for text in needed.values()):
            yield f"{task} has a field that is empty or not text"
        if task.task_type not in found.task_types:
            yield f"{task.id}: type {task.task_type!r} is not declared"
        if task.split != found.split:
            yield f"{task.id}: is of split {task.split!r}, not {found.split!r}"
    for kind in {task.task_type for task in all_tasks}:
        wanted = [task for task in all_tasks if task.task_type == kind]
        if subject.make(task_types=[kind]).tasks() != wanted:
            yield f"task_types=[{kind!r}] does not give the tasks of that type"


@check("Correct `splits`, or declare None where the number depends on the data.")
def splits(subject: Subject) -> Problems:
    """Every split has as many tasks as declared."""
    for name, size in type(subject.benchmark).splits.items():
        found = len(subject.make(split=name, task_types=None).tasks())
        if size is not None and found != size:
            yield f"split {name!r} has {found} tasks, but declares {size}"


@check("Return Provenance(data='real', 'builtin' or 'generated', split=self.split).")
def provenance(subject: Subject) -> Problems:
    """It says where its data comes from."""
    said = subject.benchmark.provenance()
    if not isinstance(said, Provenance):
        yield f"provenance is a {type(said).__name__}"
        return
    if said.data not in _KINDS_OF_DATA:
        yield f"data is {said.data!r}, not one of {', '.join(_KINDS_OF_DATA)}"
    if said.split != subject.benchmark.split:
        yield f"split is {said.split!r}, but {subject.benchmark.split!r} is configured"


@check(
    "Let Driver.data_hash be the SHA-256 of the task's data and of everything that decides its "
    "outcome."
)
def fingerprint(subject: Subject) -> Problems:
    """Each task has a hash of everything it is made from."""
    found, chosen = subject.benchmark, subject.tasks
    whole = found.fingerprint(chosen)
    if subject.make().fingerprint(chosen) != whole:
        yield "it differs when asked again"
    if len(chosen) > 1 and found.fingerprint(chosen[1:]) == whole:
        yield "it is the same with one task fewer"
    hashes = {}
    for task in chosen:
        hashes[task.id] = of_task = found.data_hash(task)
        driver, _ = subject.open(task)
        if len(of_task) != 64 or set(of_task) - set("0123456789abcdef"):
            yield f"{task.id}: data_hash is {of_task!r}, not a SHA-256"
        elif driver.data_hash != of_task:
            yield f"{task.id}: the driver's data_hash differs from the benchmark's"
    if len(set(hashes.values())) != len(hashes):
        yield "different tasks have the same data_hash"


@check(
    "Fill instructions, role, examples and tools; a tool's `command` has a blank for each "
    "parameter; take examples from a training split."
)
def briefing(subject: Subject) -> Problems:
    """Agents are told everything they need, and never get the task itself as an example."""
    for task in subject.tasks:
        driver, _ = subject.open(task)
        plain = subject.benchmark.briefing(driver, task, 0)
        if not isinstance(plain, Briefing):
            yield f"{task.id}: briefing is a {type(plain).__name__}"
            continue
        if plain.demonstrations:
            yield f"{task.id}: has examples although none were requested"
        for name in ("instructions", "role", "examples"):
            if not isinstance(getattr(plain, name), str) or not getattr(plain, name):
                yield f"{task.id}: {name} is empty"
        if not plain.tools:
            yield f"{task.id}: there are no tools for agents that call tools"
        for tool in (*plain.tools, *plain.typed_tools):
            yield from _tool(tool)
        yield from (f"{task.id}: {problem}" for problem in _demonstrations(subject, task))


@check("Let TerminalView.room and show return text for every observation.")
def view(subject: Subject) -> Problems:
    """A person can play it in the terminal."""
    looks = subject.benchmark.view()
    if not isinstance(looks, TerminalView):
        yield f"view() gives a {type(looks).__name__}"
        return
    for task in subject.tasks:
        driver, observation = subject.open(task)
        if not looks.room(observation):
            yield f"{task.id}: room() of the first observation is empty"
        for command in subject.script(task):
            observation = carry_out(driver, command)
            if not looks.show(observation):
                yield f"{task.id}: show() after {command!r} is empty"
            if len(looks.verb_and_rest(command)) != 2:
                yield f"verb_and_rest({command!r}) does not return two texts"


def _tool(tool: ToolSpec) -> Problems:
    if not tool.description:
        yield f"tool {tool.name!r} has no description"
    properties = tool.parameters.get("properties", {})
    blanks = set(BLANK.findall(tool.command))
    if tool.parameters.get("type") != "object" or set(properties) != blanks:
        yield (
            f"tool {tool.name!r}: its command has the blanks {sorted(blanks)},"
            f" its parameters are {sorted(properties)}"
        )
    if not tool.command:
        yield f"tool {tool.name!r} does not say which command a call is"


def _demonstrations(subject: Subject, task: Any) -> Problems:
    driver, _ = subject.open(task)
    examples = subject.benchmark.briefing(driver, task, 2).demonstrations
    if len(examples) > 2:
        yield f"{counted(len(examples), 'example')} where 2 were requested"
    for example in examples:
        if not (example.goal and example.first_observation and example.turns):
            yield "an example has no goal, first observation or turns"
        if not all(action and said for _, action, said in example.turns):
            yield "an example has an empty action or observation"
        driver, _ = subject.open(task)
        for _, action, _ in example.turns:
            carry_out(driver, action)
        if driver.outcome.success:
            yield "an example solves the task that it is an example for"
