"""Prompt templates in a file: sections, each beginning with its name in brackets on a line.

`$name` is replaced (string.Template rules; `$$` is a dollar sign); a name that a section does
not know is an error that says which it knows.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, ClassVar, TypeVar

import yaml
from pydantic import TypeAdapter

from agentquest.errors import ConfigError
from agentquest.lib.yaml_files import parse_yaml
from agentquest.records.messages import Message

_HEAD = re.compile(r"^\[([a-z_]+)\]\n", re.MULTILINE)


T = TypeVar("T")


class TemplateFile:
    """A prompt template, read and checked. A kind of template derives from this."""

    fields: ClassVar[Mapping[str, frozenset[str]]]
    """The possible sections, and the names that each may use."""

    needed: ClassVar[str]
    """The section that a file must have."""

    def __init__(self, text: str, where: str) -> None:
        fields, needed = self.fields, self.needed
        before, *parts = _sections(text, fields)
        names = parts[0::2]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"{where}: [{name}] is given twice")
        if needed not in names or before.strip():
            first = next(iter(fields))
            raise ConfigError(
                f"{where}: a prompt template must start with [{first}] and contain [{needed}]"
            )
        self._sections = dict(zip(names, parts[1::2], strict=True))
        for name, body in self._sections.items():
            _check(name, body, fields[name], where)

    def has(self, name: str) -> bool:
        """Whether the file has a section of that name."""
        return name in self._sections

    def fill(self, name: str, **values: str) -> str:
        """A section with its names replaced; empty if the file does not have it."""
        return Template(self._sections.get(name, "")).substitute(values)


def load_template(kind: Callable[[str, str], T], file: Path) -> T:
    """The template in a file; raises `ConfigError` if there is something wrong with it."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"agent.prompt_file: cannot read {file}: {error}") from None
    template: T = _parse(kind, text, str(file))
    return template


def load_messages(file: Path) -> tuple[Message, ...]:
    """The conversation in a JSON or YAML file; raises `ConfigError` if there is none."""
    return _load_data(tuple[Message, ...], file)


def load_examples(file: Path) -> dict[str, str]:
    """The texts for each task type in a JSON or YAML file."""
    return _load_data(dict[str, str], file)


def _load_data(kind: type[T], file: Path) -> T:
    try:
        # The same text is read only once, however many episodes use it.
        data = _read_yaml(file.read_text(encoding="utf-8"))
        return TypeAdapter(kind).validate_python(data)
    except (OSError, ValueError, yaml.YAMLError, ConfigError) as error:
        raise ConfigError(f"{file}: {error}") from None


_read_yaml = cache(parse_yaml)


@cache
def _parse(kind: Any, text: str, where: str) -> Any:
    """The same text is parsed only once, however many episodes use it."""
    return kind(text, where)


def _sections(text: str, fields: Mapping[str, frozenset[str]]) -> list[str]:
    """The text before the first section, then names and bodies in turn."""
    parts: list[str] = [""]
    place = 0
    for head in _HEAD.finditer(text):
        if head[1] in fields:
            parts[-1] += text[place : head.start()]
            parts += [head[1], ""]
            place = head.end()
    parts[-1] += text[place:]
    return parts


def _check(name: str, body: str, known: frozenset[str], where: str) -> None:
    try:
        Template(body).substitute(dict.fromkeys(known, ""))
    except KeyError as error:
        there = ", ".join(f"${one}" for one in sorted(known))
        raise ConfigError(f"{where}: [{name}] knows {there}, not ${error.args[0]}") from None
    except ValueError as error:
        raise ConfigError(f"{where}: [{name}]: {error} (write $$ for a dollar sign)") from None
