"""What an OpenEnv server tells about itself: schemas, metadata, its list of routes."""

from typing import Any

from agentquest.lib import Benchmark
from agentquest.version import __version__

Json = dict[str, Any]
_METADATA: Json = {"type": "object", "additionalProperties": True, "default": {}}
_TEXT: Json = {"type": "string"}
_FLAG: Json = {"type": "boolean"}
_COMMANDS: Json = {"type": "array", "items": _TEXT}


def schemas() -> Json:
    """JSON schemas of actions, observations and states."""
    return {"action": _action(), "observation": _observation(), "state": _state()}


def _action() -> Json:
    return {
        "title": "CommandAction",
        "type": "object",
        "properties": {
            "metadata": _METADATA,
            "command": {**_TEXT, "description": "One command, as the game understands it."},
        },
        "required": ["command"],
        "additionalProperties": False,
    }


def _observation() -> Json:
    nullable = {"anyOf": [_COMMANDS, {"type": "null"}], "default": None}
    fields = {
        "done": {**_FLAG, "default": False},
        "reward": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
        "metadata": _METADATA,
        "text": _TEXT,
        "admissible_commands": _COMMANDS,
        "goal": _TEXT,
        "task_id": _TEXT,
        "won": _FLAG,
        "truncated": _FLAG,
        "valid": _FLAG,
        "plan": nullable,
    }
    required = ["text", "admissible_commands", "goal", "task_id", "won", "truncated", "valid"]
    return {
        "title": "TextObservation",
        "type": "object",
        "properties": fields,
        "required": required,
        "additionalProperties": False,
    }


def _state() -> Json:
    identity = {"anyOf": [_TEXT, {"type": "null"}], "default": None}
    return {
        "title": "State",
        "type": "object",
        "properties": {
            "episode_id": identity,
            "step_count": {"type": "integer", "minimum": 0, "default": 0},
        },
        "additionalProperties": True,
    }


def metadata(benchmark: Benchmark) -> Json:
    """What `/metadata` answers."""
    return {
        "name": benchmark.name,
        "description": f"{benchmark.title}, played natively by AgentQuest.",
        "version": __version__,
        "author": "AgentQuest",
        "readme_content": None,
        "documentation_url": None,
    }


def split_type(name: str) -> str:
    """OpenEnv knows three kinds of split."""
    if name.startswith("train"):
        return "train"
    return "test" if name.startswith("test") else "validation"


def openapi(benchmark: Benchmark, paths: dict[str, list[str]]) -> Json:
    """What `/openapi.json` answers; `paths` are the routes, each with its methods."""
    answer = {"200": {"description": "JSON", "content": {"application/json": {}}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"{benchmark.title} (OpenEnv)", "version": "1.0.0"},
        "paths": {
            path: {method.lower(): {"responses": answer} for method in methods}
            for path, methods in paths.items()
        },
    }
