"""One arena per benchmark and settings, shared by every environment of the process."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from agentquest.lib import Arena
from agentquest.running.factory import make_benchmark


def shared_arena(benchmark: str, settings: Mapping[str, Any] | None = None) -> Arena:
    """Where the tasks of a benchmark are found; `settings` are the benchmark's own."""
    given = {key: value for key, value in (settings or {}).items() if value is not None}
    return _arena(benchmark, json.dumps(given, sort_keys=True, default=str))


@lru_cache(maxsize=16)
def _arena(benchmark: str, settings: str) -> Arena:
    return Arena(make_benchmark(benchmark, json.loads(settings)))
