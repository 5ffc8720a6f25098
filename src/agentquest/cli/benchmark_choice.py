"""Choosing a benchmark and its settings on the command line, the same way for every command."""

import difflib
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from agentquest import registry
from agentquest.errors import ConfigError
from agentquest.lib.yaml_files import parse_setting

BenchmarkWords = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="BENCHMARK [KEY=VALUE]",
        help=f"One of: {', '.join(registry.names('benchmark'))}; and its settings, such as"
        " split=train or --split train (`agentquest benchmarks` lists them).",
    ),
]
TaskTypes = Annotated[
    list[str] | None,
    typer.Option("--type", "-t", help="Only this task type (number or name); may be repeated."),
]


def read_words(words: Sequence[str] | None) -> tuple[str, list[str]]:
    """The benchmark's name among the words of a command line, and the settings beside it."""
    plain = as_overrides(words or ())
    names = [word for word in plain if "=" not in word]
    if not names:
        raise ConfigError(f"name a benchmark: {', '.join(registry.names('benchmark'))}")
    if len(names) > 1:
        raise ConfigError(f"one benchmark at a time, not {' and '.join(names)}")
    return names[0], [word for word in plain if "=" in word]


def read_benchmark(words: Sequence[str] | None) -> tuple[str, dict[str, Any]]:
    """The benchmark's name and its settings, the values read as those of `agentquest eval`."""
    name, settings = read_words(words)
    parts = (text.partition("=") for text in settings)
    return name, {key: parse_setting(key, value) for key, _, value in parts}


def as_overrides(words: Sequence[str], switches: Sequence[str] = ()) -> list[str]:
    """`--name value` and `--name=value` as `name=value`; other words are kept as they are.

    `switches` are the command's own options without a value, to catch a misspelt one.
    """
    overrides = []
    waiting = iter(words)
    for word in waiting:
        if not word.startswith("--"):
            overrides.append(word)
            continue
        if meant := difflib.get_close_matches(word.replace("_", "-"), switches, n=1, cutoff=0.8):
            raise ConfigError(f"there is no option {word}; did you mean {meant[0]}?")
        name, separator, value = word[2:].partition("=")
        if not separator:
            value = next(waiting, "--")
            if value.startswith("--"):
                raise ConfigError(f"{word} needs a value: {word}=VALUE")
        overrides.append(f"{name.replace('-', '_')}={value}")
    return overrides
