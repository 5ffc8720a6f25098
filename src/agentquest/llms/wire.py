"""Small readings and writings that all wire formats share."""

import json
from collections.abc import Mapping
from typing import Any

from agentquest.records.messages import ToolSpec


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that have a value: what is not set is not sent."""
    return {name: value for name, value in fields.items() if value is not None}


def schema_of(tool: ToolSpec) -> dict[str, Any]:
    """The JSON schema of a tool's parameters, which may be none."""
    return tool.parameters or {"type": "object", "properties": {}}


def arguments_object(written: str) -> dict[str, Any]:
    """Arguments for an API that wants an object; what is none is shown as it was written."""
    try:
        read = json.loads(written)
    except (ValueError, RecursionError):
        read = None
    return read if isinstance(read, dict) else {"arguments": written}


def text_of(holder: object, name: str) -> str:
    """A text in a part of a response; empty where there is none."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, str) else ""


def count_of(holder: object, name: str) -> int | None:
    """A number of tokens in a part of a response, or None where there is no proper one."""
    value = holder.get(name) if isinstance(holder, dict) else None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


def objects(value: object, what: str) -> list[dict[str, Any]]:
    """A list of objects, as most responses hold one."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f"{what} is not a list of objects")
    return value
