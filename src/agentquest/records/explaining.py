"""Why a file that was read is not what it should be, in one line."""

import json

from pydantic import ValidationError


def explain_invalid(content: bytes, error: ValidationError, where: str, expected: int) -> str:
    """Says so if the file has another schema; otherwise names the first wrong field."""
    version = _version_of(content)
    if version is not None and version != expected:
        return f"{where}: written with schema {version}, but this AgentQuest reads {expected}"
    first = error.errors()[0]
    path = ".".join(map(str, first["loc"])) or "line"
    return f"{where}: {path}: {first['msg']}"


def _version_of(content: bytes) -> int | None:
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return None
    version = parsed.get("schema_version") if isinstance(parsed, dict) else None
    return version if isinstance(version, int) else None
