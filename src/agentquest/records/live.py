"""The old place of `agentquest.store.live`."""

import warnings
from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name != "read_live":
        raise AttributeError(name)
    warnings.warn(
        "agentquest.records.live.read_live is now agentquest.store.live.read_live",
        DeprecationWarning,
        stacklevel=2,
    )
    return import_module("agentquest.store.live").read_live
