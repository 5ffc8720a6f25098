"""Named settings, so that a number can be set beside a published one.

A protocol fixes split, number of tasks, dialect, prompt family and step limit.
Published scores differ silently in exactly these; `published` says which ones a
run under the protocol may be compared with, as far as their papers tell. Each
benchmark has its own in its folder, listed in the registry; a dotted path names
one of the user's.
"""

from dataclasses import dataclass, field
from typing import Any

from agentquest import registry
from agentquest.errors import ConfigError


@dataclass(frozen=True)
class Published:
    """Scores from a paper or repository, in percent: success unless the name says otherwise."""

    source: str
    setting: str
    scores: dict[str, float]


@dataclass(frozen=True)
class Protocol:
    """One named setting; `settings` are the keys of the run configuration that it fixes."""

    name: str
    description: str
    settings: dict[str, Any]
    published: tuple[Published, ...] = field(default=())


# What would make it another list of tasks, or another prompt, under the same name.
ALL_TASKS: dict[str, Any] = {
    "benchmark_settings.task_types": None,
    "num_games": None,
    "tasks": None,
}
OUR_PROMPT: dict[str, Any] = {"agent.prompt_file": None}


def protocol(name: str) -> Protocol:
    """The protocol of that name or dotted path; raises ConfigError if it names something else."""
    found = registry.load("protocol", name)
    if not isinstance(found, Protocol):
        raise ConfigError(f"protocol {name!r} is a {type(found).__name__}, no Protocol")
    return found


def all_protocols() -> dict[str, Protocol]:
    """Those that have a name, in the order of their names."""
    return {name: protocol(name) for name in registry.names("protocol")}
