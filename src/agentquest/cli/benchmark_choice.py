"""Choosing a benchmark and its settings on the command line, the same way for every command."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from agentquest import registry
from agentquest.errors import ConfigError
from agentquest.lib.yaml_files import parse_setting

BenchmarkWords = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="BENCHMARK",
        help=f"One of: {', '.join(registry.names('benchmark'))}.",
    ),
]
SPLIT_HELP = "Which split; default: the first that `agentquest benchmarks` lists."
DATA_HELP = "Folder with the official data, or `builtin`; default: auto-detected."
SETTING_HELP = "Another setting of the benchmark, as name=value; `--name value` works too."


def read_words(words: Sequence[str] | None, default: str | None = None) -> tuple[str, list[str]]:
    """The benchmark's name among the words of a command line, and the settings beside it."""
    plain = as_overrides(words or ())
    names = [word for word in plain if "=" not in word]
    if not names and default is None:
        raise ConfigError(f"name a benchmark: {', '.join(registry.names('benchmark'))}")
    if len(names) > 1:
        raise ConfigError(f"one benchmark at a time, not {' and '.join(names)}")
    return names[0] if names else str(default), [word for word in plain if "=" in word]


def chosen_settings(given: Mapping[str, Any], *settings: Sequence[str] | None) -> dict[str, Any]:
    """A benchmark's settings; None and empty lists count as not given."""
    chosen = {key: value for key, value in given.items() if value is not None and value != []}
    return {**read_settings([text for texts in settings for text in texts or ()]), **chosen}


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


def read_settings(texts: Sequence[str]) -> dict[str, Any]:
    """`name=value` texts, the values read as YAML like those of `agentquest eval`."""
    read: dict[str, Any] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise ConfigError(f"{text!r} is not of the form name=value")
        read[name] = parse_setting(name, value)
    return read
