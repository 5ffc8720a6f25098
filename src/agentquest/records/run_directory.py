"""The old place of `agentquest.store.folder`."""

import warnings
from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name != "RunDirectory":
        raise AttributeError(name)
    warnings.warn(
        "agentquest.records.run_directory.RunDirectory is now agentquest.store.folder.RunFolder;"
        " agentquest.load_run(path) reads a run",
        DeprecationWarning,
        stacklevel=2,
    )
    return import_module("agentquest.store.folder").RunFolder
