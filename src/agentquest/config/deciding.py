"""Which settings can change a score: they name the run and must not change within it."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agentquest.errors import ConfigError
from agentquest.lib.settings import content_files, operational_fields


def deciding_fields(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of fields that are not operational; a file counts by its content."""
    left_out, files = operational_fields(model), content_files(model)
    return {
        name: _file_hash(name, value) if name in files and value is not None else value
        for name, value in values.items()
        if name not in left_out
    }


def _file_hash(name: str, file: str) -> str:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(f"{name}: cannot read {file}: {error.strerror}") from None
