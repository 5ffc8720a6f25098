"""Reading a configuration: one YAML file, then `key.path=value` from the command line.

Unknown keys are refused with the nearest name; a wrong value names its path,
what was given and what is allowed. The flat names of document 002 (`model`,
`api_base_url`, `use_few_shot`, …) are accepted where it gives them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import BaseModel, ValidationError

from agentquest.config.settings import AgentConfig, RunConfig
from agentquest.errors import ConfigError
from agentquest.llms.model import ModelConfig
from agentquest.protocols import protocol
from agentquest.registry import suggestion

# The names document 002 uses, and where they belong.
FLAT_NAMES = {
    "model": "llm.model",
    "api_base_url": "llm.base_url",
    "base_url": "llm.base_url",
    "api_key": "llm.api_key",
    "api_key_env": "llm.api_key_env",
    "temperature": "llm.temperature",
    "top_p": "llm.top_p",
    "max_tokens": "llm.max_tokens",
    "max_retries": "llm.max_retries",
    "wait_interval": "llm.wait_interval",
    "enable_thinking": "llm.enable_thinking",
    "use_few_shot": "agent.use_few_shot",
    "history_length": "agent.history_length",
}


def load_config(file: Path | None, overrides: Sequence[str] = ()) -> tuple[RunConfig, list[str]]:
    """The configuration, and warnings to show the user."""
    given = _read_yaml(file) if file is not None else {}
    nested = _unflatten(given, str(file))
    for override in overrides:
        path, separator, value = override.partition("=")
        if not separator or not path:
            shown = "an override" if "key" in override.lower() else repr(override)
            raise ConfigError(f"{shown} is not of the form key.path=value")
        _put(nested, FLAT_NAMES.get(path.lower(), path), _scalar(path, value))
    _apply_protocol(nested)
    config = _validated(nested)
    warnings = []
    if config.llm is not None and config.llm.api_key is not None:
        warnings.append(
            "llm.api_key: the key itself stands in the configuration; "
            "name an environment variable in llm.api_key_env instead"
        )
    return config, warnings


def _validated(nested: Mapping[str, Any]) -> RunConfig:
    try:
        return RunConfig.model_validate(nested)
    except ValidationError as error:
        raise ConfigError("\n".join(_explain(problem) for problem in error.errors())) from None


def _explain(problem: Any) -> str:
    path = ".".join(str(part) for part in problem["loc"] if part != "function-after")
    if problem["type"] == "extra_forbidden":
        *parents, name = problem["loc"]
        known = _fields_at(parents)
        return f"{path}: unknown key; {suggestion(str(name).lower(), known)}"
    message = problem["msg"].removeprefix("Value error, ")
    given = ""
    if problem["type"] not in ("missing", "value_error") and "key" not in path:
        given = f" (given: {_shown(problem['input'])})"
    return f"{path + ': ' if path else ''}{message}{given}"


def _shown(value: Any) -> str:
    """What was given; of lists and sections only that it was one, as a key may be inside."""
    is_plain = value is None or isinstance(value, bool | int | float | str)
    return repr(value) if is_plain else f"a {type(value).__name__}"


def _fields_at(parents: Sequence[Any]) -> list[str]:
    models: dict[str, type[BaseModel]] = {"agent": AgentConfig, "llm": ModelConfig}
    model = models.get(str(parents[0]), RunConfig) if parents else RunConfig
    names = list(model.model_fields)
    return names if parents else [*names, *(n for n in FLAT_NAMES if n not in names)]


def _apply_protocol(nested: dict[str, Any]) -> None:
    name = nested.get("protocol")
    if name is None:
        return
    for path, value in protocol(str(name)).settings.items():
        present = _get(nested, path)
        if present is not None and str(present) != str(value):
            raise ConfigError(
                f"{path}: protocol {name!r} fixes it to {_yaml(value)} (given: {present!r}); "
                "leave it out, or run without a protocol"
            )
        _put(nested, path, value)


def _yaml(value: Any) -> str:
    return "null" if value is None else repr(value)


def _unflatten(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for key, value in given.items():
        target = FLAT_NAMES.get(str(key).lower())
        if target is None:
            if isinstance(value, Mapping) and isinstance(nested.get(str(key)), dict):
                for inner, item in value.items():
                    _put_once(nested, f"{key}.{inner}", item, where)
            else:
                nested[str(key)] = dict(value) if isinstance(value, Mapping) else value
        else:
            _put_once(nested, target, value, where)
    return nested


def _put_once(nested: dict[str, Any], path: str, value: Any, where: str) -> None:
    *parents, last = path.split(".")
    section = _get(nested, ".".join(parents))
    if isinstance(section, Mapping) and last in section:
        raise ConfigError(f"{where}: {path} is given twice")
    _put(nested, path, value)


def _get(nested: Mapping[str, Any], path: str) -> Any:
    node: Any = nested
    for part in path.split("."):
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def _put(nested: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    node = nested
    for part in parents:
        inner = node.get(part)
        if inner is None:
            inner = node[part] = {}
        elif not isinstance(inner, dict):
            raise ConfigError(f"{path}: {part} is not a section, it is a {type(inner).__name__}")
        node = inner
    node[last] = value


def _scalar(path: str, text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(f"{path}: the value is not YAML") from None


class _UniqueKeys(yaml.SafeLoader):
    """YAML that refuses a key given twice, which would otherwise be lost silently."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, str) and key in seen:
                line = key_node.start_mark.line + 1
                raise ConfigError(f"line {line}: {key!r} is given twice")
            if isinstance(key, str):
                seen.add(key)
        return cast(dict[Any, Any], super().construct_mapping(node, deep))


def _place(error: yaml.YAMLError) -> str:
    """Where and what; the line itself is not shown, as a key may stand in it."""
    mark = getattr(error, "problem_mark", None)
    where = f", line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
    problem = getattr(error, "problem", None)
    return f"{where}: {problem}" if problem else where


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        content = yaml.load(file.read_text(encoding="utf-8"), Loader=_UniqueKeys)
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8: {error.reason} at byte {error.start}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{file} is not YAML{_place(error)}") from None
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{file} holds a {type(content).__name__} instead of keys and values")
    return content
