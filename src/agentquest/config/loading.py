"""Reading a configuration: one YAML file, then `key.path=value` from the command line.

Unknown keys are refused with the nearest name; the error for a wrong value gives its path,
the value and what is allowed. Some settings may also be given at the top level: those in
`FLAT_NAMES` (`model`, `api_base_url`, `use_few_shot`, …), and those of the chosen benchmark
(`split`, `task_types`, …).
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentquest.config.settings import (
    DEFAULT_AGENT,
    ModelSection,
    RunConfig,
    resolve_config,
    settings_model,
)
from agentquest.errors import ConfigError
from agentquest.lib.settings import validated
from agentquest.lib.yaml_files import parse_setting, read_yaml
from agentquest.protocols import protocol

# Top-level names, and the settings that they stand for.
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
_SECTIONS = ("agent", "benchmark_settings", "executor", "llm")
_FILES = (".yaml", ".yml", ".json")
# Sections that can be given by their name alone.
_NAMED = ("agent", "executor")
KEY_FIELD = "llm.api_key"
_SECRET_NAMES = re.compile(
    r"(?:^|[_-])(?:api[_-]?keys?|secret|password|passwd|authorization|bearer"
    r"|(?:access|auth)[_-]?token)$",
    re.IGNORECASE,
)
_SECRET_PREFIXES = re.compile(
    r"(?:Bearer )?(?:(?:sk|pk|rk|gsk|hf|r8|xai|ghp|gho|pplx|nvapi|sess)[-_]|AIza|AKIA)"
    r"[-_A-Za-z0-9]{16,}"
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def load_config(
    file: Path | None, overrides: Sequence[str] = (), settings: Mapping[str, Any] | None = None
) -> tuple[RunConfig, list[str]]:
    """The configuration, and warnings to show the user.

    `settings` are keys and values as a file has them; they override the file, and
    `overrides` both. Of a section only what is given is overridden.
    """
    given = read_yaml(file) if file is not None else {}
    changes = [*_paths(settings or {}), *(_override(text) for text in overrides)]
    known = _benchmark_keys(given, changes)
    nested = _unflatten(given, known, str(file))
    for path, value in changes:
        _put(nested, _target(path, known) or path, value)
    config, warnings = config_from(nested)
    typed = [path for path, _ in (_override(text) for text in overrides)]
    if any((_target(path, known) or path) == KEY_FIELD for path in typed):
        warnings = [
            "llm.api_key: other users of this machine can see it on your command line;"
            " name an environment variable in llm.api_key_env instead"
        ]
    return config, warnings


def config_from(nested: Mapping[str, Any]) -> tuple[RunConfig, list[str]]:
    """The configuration that nested keys and values describe, and warnings to show the user."""
    filled = {
        key: dict(value) if isinstance(value, Mapping) else value
        for key, value in nested.items()
        # A section whose keys are all commented out is left out.
        if value is not None or key not in _SECTIONS
    }
    _refuse_secrets(filled)
    _refuse_misplaced(filled)
    places = _read_tasks(filled)
    _apply_protocol(filled)
    config = resolve_config(validated(RunConfig, filled, other_names=_top_level_names(filled)))
    config = config.with_task_places(places)
    warnings = []
    if config.llm is not None and config.llm.api_key is not None:
        warnings.append(
            "llm.api_key: the configuration contains the key itself; "
            "name an environment variable in llm.api_key_env instead"
        )
    return config, warnings


def _refuse_misplaced(nested: Mapping[str, Any]) -> None:
    """Refuse a section's key at the top level, and say where it belongs."""
    provider = str(_get(nested, "llm.provider") or ModelSection().provider)
    known = {
        "llm": {"provider", *settings_model("model", provider).model_fields},
        "agent": _agent_keys(nested),
    }
    for key in (key for key in nested if key not in RunConfig.model_fields):
        for section, keys in known.items():
            if key in keys:
                raise ConfigError(f"{key}: unknown key; did you mean {section}.{key}?")


def _agent_keys(nested: Mapping[str, Any]) -> Collection[str]:
    """The settings of the chosen agent."""
    return settings_model("agent", str(_get(nested, "agent.name") or DEFAULT_AGENT)).model_fields


def _read_tasks(nested: dict[str, Any]) -> dict[str, str]:
    """Replace `tasks.file` by the ids in it; returns where each was read."""
    tasks = nested.get("tasks")
    if not isinstance(tasks, Mapping):
        return {}
    if set(tasks) != {"file"} or not isinstance(tasks["file"], str | Path):
        raise ConfigError("tasks: give ids, or a file of ids as tasks.file=PATH")
    places = _read_task_list(Path(tasks["file"]))
    nested["tasks"] = list(places)
    return places


def _apply_protocol(nested: dict[str, Any]) -> None:
    name = nested.get("protocol")
    if name is None:
        return
    chosen = protocol(str(name))
    for path, what in chosen.needs.items():
        if _get(nested, path) is None:
            raise ConfigError(f"{path}: protocol {name!r} needs you to set it: {what}")
    for path, value in chosen.settings.items():
        present = _get(nested, path)
        section, _, key = path.partition(".")
        is_known = section != "agent" or key in _agent_keys(nested)
        if value is None and present is None and not is_known:
            continue  # the chosen agent lacks this setting: there is nothing to fix
        if present not in (None, value) and str(present) != str(value):
            fixed = "null" if value is None else repr(value)
            raise ConfigError(
                f"{path}: protocol {name!r} fixes it to {fixed} (given: {present!r}); "
                "leave it out, or run without the protocol"
            )
        _put(nested, path, value)


def _override(text: str) -> tuple[str, Any]:
    path, separator, value = text.partition("=")
    if not separator or not path:
        shown = "an override" if "key" in text.lower() else repr(text)
        hint = f"; a file is given as -c {text}" if text.endswith(_FILES) else ""
        raise ConfigError(f"{shown} is not of the form key.path=value{hint}")
    return path, parse_setting(path, value)


def _top_level_names(nested: Mapping[str, Any]) -> list[str]:
    """The names that are allowed at the top level, for suggestions."""
    return sorted({*_benchmark_keys(nested, ()), *FLAT_NAMES} - set(RunConfig.model_fields))


def _paths(settings: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The settings as paths; sections are one level deep."""
    paths: list[tuple[str, Any]] = []
    for key, value in settings.items():
        if isinstance(value, Mapping) and key in _SECTIONS:
            paths += [(f"{key}.{inner}", item) for inner, item in value.items()]
        else:
            paths.append((key, value))
    return paths


def _benchmark_keys(given: Mapping[str, Any], changes: Sequence[tuple[str, Any]]) -> set[str]:
    """The settings of the chosen benchmark, which are allowed at the top level."""
    default = RunConfig.model_fields["benchmark"].default
    name = dict(changes).get("benchmark", given.get("benchmark")) or default
    protocol_name = dict(changes).get("protocol", given.get("protocol"))
    if protocol_name is not None:
        name = protocol(str(protocol_name)).settings.get("benchmark", name)
    return set(settings_model("benchmark", str(name)).model_fields) - set(RunConfig.model_fields)


def _target(key: str, benchmark_keys: set[str]) -> str | None:
    """The full path of a top-level name; None if it is already one."""
    if key in benchmark_keys:
        return f"benchmark_settings.{key}"
    return FLAT_NAMES.get(key.lower())


def _unflatten(given: Mapping[str, Any], benchmark_keys: set[str], where: str) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for key, value in given.items():
        target = _target(str(key), benchmark_keys)
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
        if isinstance(node, str) and path in (f"{section}.name" for section in _NAMED):
            return node  # a section given by its name alone
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def _put(nested: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    node = nested
    for part in parents:
        inner = node.get(part)
        if inner is None:
            inner = node[part] = {}
        elif isinstance(inner, str) and part in _NAMED:
            inner = node[part] = {"name": inner}
        elif not isinstance(inner, dict):
            raise ConfigError(f"{path}: {part} is not a section, it is a {type(inner).__name__}")
        node = inner
    if last in _NAMED and isinstance(node.get(last), dict) and isinstance(value, str):
        value = {**node[last], "name": value}
    node[last] = value


def _refuse_secrets(settings: Mapping[str, Any]) -> None:
    """Refuse a key in any field but the one for it: all others are saved in the run's files.

    The value is not shown.
    """
    for path, value in _texts(settings, ""):
        if path == KEY_FIELD:
            continue
        last = path.rpartition(".")[2]
        if last == "api_key_env":
            is_secret = _VARIABLE.fullmatch(value) is None or _is_key(value)
        elif path.startswith("agent.headers."):
            is_secret = _is_key(value)  # they name variables: see there
        else:
            is_secret = _is_key(value) or _SECRET_NAMES.search(last) is not None
        if is_secret:
            raise ConfigError(
                f"{path}: a key or password here would be saved in the run's files;"
                " put it in an environment variable and name that in llm.api_key_env"
            )


def _is_key(value: str) -> bool:
    return _SECRET_PREFIXES.fullmatch(value.strip()) is not None and any(map(str.isdigit, value))


def _texts(node: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _texts(value, f"{path}.{key}" if path else str(key))
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _texts(value, path)
    elif isinstance(node, str) and node:
        yield path, node


def _read_task_list(file: Path) -> dict[str, str]:
    """The ids in a file, one per line or a JSON list, each with its place for messages.

    They are copied into the configuration, so that a run does not depend on the file.
    """
    if file.exists() and not file.is_file():  # a pipe may wait, a device never end
        raise ConfigError(f"tasks.file: {file} is not a regular file")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"tasks.file: cannot read {file}: {reason}") from None
    lines = _json_lines(text, file) if text.lstrip().startswith("[") else _plain_lines(text)
    found: dict[str, str] = {}
    for number, name in lines:
        where = f"{file}, line {number}"
        if name in found:
            raise ConfigError(f"tasks.file: {where}: {name!r} is listed twice")
        found[name] = where
    if not found:
        raise ConfigError(f"tasks.file: {file} lists no tasks")
    return found


def _plain_lines(text: str) -> list[tuple[int, str]]:
    """Empty lines and lines that start with `#` are skipped."""
    numbered = ((number, line.strip()) for number, line in enumerate(text.splitlines(), start=1))
    return [(number, line) for number, line in numbered if line and not line.startswith("#")]


def _json_lines(text: str, file: Path) -> list[tuple[int, str]]:
    try:
        names: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"tasks.file: {file} is not JSON, line {error.lineno}: {error.msg}"
        ) from None
    except RecursionError:
        raise ConfigError(f"tasks.file: {file} is nested too deeply for a list of ids") from None
    lines, at = [], 0
    for place, name in enumerate(names, start=1):
        if not isinstance(name, str):
            raise ConfigError(f"tasks.file: {file}: entry {place} is not a task id")
        at = max(at, text.find(json.dumps(name, ensure_ascii=False), at))
        lines.append((text.count("\n", 0, at) + 1, name))
    return lines
