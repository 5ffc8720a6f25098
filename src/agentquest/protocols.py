"""Named settings, so that a number can be set beside a published one.

A protocol fixes split, number of tasks, dialect, prompt family and step limit.
Published scores differ silently in exactly these; `published` says which ones a
run under the protocol may be compared with, as far as their papers tell, and
`refused` which ones may not, and why. What it `needs` is somebody else's text or
list, which the user supplies. Each benchmark has its own in its folder, listed in
the registry; a dotted path or a YAML file names one of the user's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from agentquest import registry
from agentquest.errors import ConfigError
from agentquest.lib.settings import Settings, validate_settings
from agentquest.lib.yaml_files import read_yaml
from agentquest.records.manifest import PublishedScore

_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True)
class Protocol:
    """One named setting; `settings` are the keys of the run configuration that it fixes."""

    name: str
    description: str
    settings: dict[str, Any]
    published: tuple[PublishedScore, ...] = field(default=())
    refused: Mapping[str, str] = field(default_factory=dict)  # source: why it is not comparable
    needs: Mapping[str, str] = field(default_factory=dict)  # setting: what the user gives there


# What would make it another list of tasks, or another prompt, under the same name.
ALL_TASKS: dict[str, Any] = {
    "benchmark_settings.task_types": None,
    "num_games": None,
    "tasks": None,
}
OUR_PROMPT: dict[str, Any] = {"agent.prompt_file": None}
# The agent for authors' own settings, and how GiGPO reads on every benchmark: what has no tags is
# played by its end, which records call `tail`.
PROMPTED: dict[str, Any] = {
    "agent.name": "prompted",
    "agent.num_examples": 0,
    "agent.pieces": None,
    "agent.longest_prompt": None,
    "agent.when_full": "end",
    "agent.thought_turns": None,
    "agent.ends_on_repeat": False,
}
GIGPO_READING: dict[str, Any] = {
    **PROMPTED,
    "agent.style": "message",
    "agent.reader": "as_gigpo",
    "agent.read_cut_off": True,
    "agent.history_length": 2,
    "agent.history_join": "\n",
    "llm.temperature": 0.4,
    "llm.max_tokens": 512,
}


def protocol(name: str) -> Protocol:
    """A protocol by its name, by its dotted path, or in a YAML file."""
    if name.endswith(_ENDINGS):
        return read_protocol(Path(name))
    found = registry.load("protocol", name)
    if not isinstance(found, Protocol):
        raise ConfigError(f"protocol {name!r} is a {type(found).__name__}, not a Protocol")
    return found


def all_protocols() -> dict[str, Protocol]:
    """Those that have a name, in the order of their names."""
    return {name: protocol(name) for name in registry.names("protocol")}


class _Written(Settings):
    """A protocol as its file says it."""

    name: str = ""
    """What the run names it; not given: the file's name."""

    description: str = ""
    """One sentence for lists."""

    settings: dict[str, Any]
    """What it fixes, by paths of the configuration or in sections."""

    published: tuple[PublishedScore, ...] = ()
    """Scores that a run may be compared with."""

    refused: dict[str, str] = Field(default_factory=dict)
    """Sources of scores that it may not be compared with, and why."""

    needs: dict[str, str] = Field(default_factory=dict)
    """Settings that its users must give, and what is meant to stand there."""


def read_protocol(file: Path) -> Protocol:
    """A protocol that a user wrote down; files that it names stand beside it."""
    content = {key: value for key, value in read_yaml(file).items() if value is not None}
    try:
        written = validate_settings(_Written, content)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None
    settings = _flat(written.settings)
    for name in ("agent.prompt_file", "agent.opening_file", "agent.examples_file"):
        if settings.get(name) is not None:
            settings[name] = str(file.parent / str(settings[name]))
    return Protocol(
        written.name or file.stem,
        written.description,
        settings,
        written.published,
        written.refused,
        written.needs,
    )


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by their paths, written flat or in sections, which are one level deep."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        section = value.items() if isinstance(value, dict) else None
        flat |= {key: value} if section is None else {f"{key}.{name}": it for name, it in section}
    return flat
