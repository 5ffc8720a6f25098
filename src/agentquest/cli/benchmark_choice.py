"""Choosing a benchmark and its settings on the command line, alike for every command."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from agentquest.errors import ConfigError
from agentquest.lib import Benchmark
from agentquest.running.assemble import make_benchmark

BENCHMARK_HELP = "alfworld or webshop"
SPLIT_HELP = (
    "alfworld: valid_unseen, valid_seen, valid_train, train; webshop: test, dev, train."
    " The first is the default."
)
SETTING_HELP = "What else the benchmark can be set to, as name=value (webshop: goals=human)."


def chosen_benchmark(
    name: str, given: Mapping[str, Any], settings: Sequence[str] | None = None
) -> Benchmark:
    """A benchmark with what was given; None and empty lists count as not given."""
    chosen = {key: value for key, value in given.items() if value is not None and value != []}
    return make_benchmark(name, **{**read_settings(settings or ()), **chosen})


def read_settings(texts: Sequence[str]) -> dict[str, Any]:
    """`name=value` texts, the values read as YAML like those of `agentquest eval`."""
    read: dict[str, Any] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise ConfigError(f"--setting {text!r} is not of the form name=value")
        try:
            read[name] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise ConfigError(f"--setting {name}: the value is not YAML") from None
    return read
