"""Reading a configuration: one YAML file, then `key.path=value` from the command line.

Unknown keys are refused with the nearest name; the error for a wrong value gives its path,
the value and what is allowed. Some settings may also be given at the top level: those in
`FLAT_NAMES` (`model`, `api_base_url`, `use_few_shot`, …), and those of the chosen benchmark
(`split`, `task_types`, …).
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from agentquest.files import require_file
from agentquest.lib.settings import validate_settings
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
_SECTIONS = ("agent", "benchmark_settings", "executor", "llm", "tasks")
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
    file: Path | None = None,
    overrides: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
) -> tuple[RunConfig, list[str]]:
    """The configuration, and warnings to show the user.

    `settings` are keys and values as a file has them; they override the file, and
    `overrides` both. Of a section only what is given is overridden.
    """
    given = read_yaml(file) if file is not None else {}
    typed = [_override(text) for text in overrides]
    changes = [*(settings or {}).items(), *typed]
    own = _benchmark_keys({**given, **dict(changes)})
    flat: dict[str, Any] = {}
    for path, value in _spread(given.items(), own):
        if path in flat:
            raise ConfigError(f"{file}: {path} is given twice")
        flat[path] = value
    for path, value in _spread(changes, own):
        if path in _SECTIONS and value is None:
            flat = {known: it for known, it in flat.items() if not known.startswith(f"{path}.")}
        flat.pop(path, None)  # the last one is the deepest: see `_nest`
        flat[path] = value
    config, warnings = _resolve(flat)
    if any(path == KEY_FIELD for path, _ in _spread(typed, own)):
        warnings = [
            "llm.api_key: other users of this machine can see it on your command line;"
            " name an environment variable in llm.api_key_env instead"
        ]
    return config, warnings


def _spread(
    settings: Iterable[tuple[str, Any]], benchmark_keys: Collection[str]
) -> Iterator[tuple[str, Any]]:
    """Each setting by its full path, wherever it was written; sections are one level deep."""
    for key, value in settings:
        name = str(key)
        if name in benchmark_keys:
            yield f"benchmark_settings.{name}", value
        elif name.lower() in FLAT_NAMES:
            yield FLAT_NAMES[name.lower()], value
        elif name in _SECTIONS and isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", item) for inner, item in value.items())
        elif name in _NAMED and isinstance(value, str):
            yield f"{name}.name", value
        else:
            yield name, value


def _nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in their sections; what comes later reaches into what came before."""
    nested: dict[str, Any] = {}
    for path, value in flat.items():
        *parents, last = path.split(".")
        node = nested
        for part in parents:
            inner = node.setdefault(part, {})
            if not isinstance(inner, dict):
                kind = type(inner).__name__
                raise ConfigError(f"{path}: {part} is not a section, it is a {kind}")
            node = inner
        node[last] = dict(value) if isinstance(value, Mapping) else value
    return nested


def _resolve(flat: dict[str, Any]) -> tuple[RunConfig, list[str]]:
    # A section whose keys are all commented out is left out.
    flat = {path: it for path, it in flat.items() if it is not None or path not in _SECTIONS}
    _refuse_secrets(flat)
    _refuse_misplaced(flat)
    places = _read_tasks(flat)
    fixed = _apply_protocol(flat)
    others = sorted({*_benchmark_keys(flat), *FLAT_NAMES} - set(RunConfig.model_fields))
    try:
        config = resolve_config(validate_settings(RunConfig, _nest(flat), other_names=others))
    except ConfigError as error:
        path = str(error).partition(":")[0]
        if not any(path == each or each.startswith(f"{path}.") for each in fixed):
            raise
        raise ConfigError(f"protocol {flat['protocol']!r}: {error}") from None
    config = config.with_task_places(places)
    warnings = []
    if config.llm is not None and config.llm.api_key is not None:
        warnings.append(
            "llm.api_key: the configuration contains the key itself; "
            "name an environment variable in llm.api_key_env instead"
        )
    return config, warnings


def _refuse_misplaced(flat: Mapping[str, Any]) -> None:
    """Refuse a section's key at the top level, and say where it belongs."""
    provider = str(flat.get("llm.provider") or ModelSection().provider)
    known = {
        "llm": {"provider", *settings_model("model", provider).model_fields},
        "agent": _agent_keys(flat),
    }
    for key in (key for key in flat if key not in RunConfig.model_fields):
        for section, keys in known.items():
            if key in keys:
                raise ConfigError(f"{key}: unknown key; did you mean {section}.{key}?")


def _agent_keys(flat: Mapping[str, Any]) -> Collection[str]:
    """The settings of the chosen agent."""
    return settings_model("agent", str(flat.get("agent.name") or DEFAULT_AGENT)).model_fields


def _benchmark_keys(settings: Mapping[str, Any]) -> set[str]:
    """The settings of the chosen benchmark, which are allowed at the top level."""
    name = settings.get("benchmark") or RunConfig.model_fields["benchmark"].default
    if settings.get("protocol") is not None:
        name = protocol(str(settings["protocol"])).settings.get("benchmark", name)
    return set(settings_model("benchmark", str(name)).model_fields) - set(RunConfig.model_fields)


def _apply_protocol(flat: dict[str, Any]) -> Collection[str]:
    """Set what the protocol fixes, if there is one; returns these paths."""
    name = flat.get("protocol")
    if name is None:
        return ()
    chosen = protocol(str(name))
    for path, what in chosen.needs.items():
        if flat.get(path) is None:
            raise ConfigError(f"{path}: protocol {name!r} needs you to set it: {what}")
    for path, value in chosen.settings.items():
        present = flat.get(path)
        section, _, key = path.partition(".")
        is_known = section != "agent" or key in _agent_keys(flat)
        if value is None and present is None and not is_known:
            continue  # the chosen agent lacks this setting: there is nothing to fix
        if present not in (None, value) and str(present) != str(value):
            fixed = "null" if value is None else repr(value)
            raise ConfigError(
                f"{path}: protocol {name!r} fixes it to {fixed} (given: {present!r}); "
                "leave it out, or run without the protocol"
            )
        flat[path] = value
    return chosen.settings


def _override(text: str) -> tuple[str, Any]:
    path, separator, value = text.partition("=")
    if not separator or not path:
        shown = "an override" if "key" in text.lower() else repr(text)
        hint = f"; a file is given as -c {text}" if text.endswith(_FILES) else ""
        raise ConfigError(f"{shown} is not of the form key.path=value{hint}")
    return path, parse_setting(path, value)


def _refuse_secrets(flat: Mapping[str, Any]) -> None:
    """Refuse a key in any field but the one for it: all others are saved in the run's files.

    The value is not shown.
    """
    for path, value in _texts(flat, ""):
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


def _read_tasks(flat: dict[str, Any]) -> dict[str, str]:
    """Replace `tasks.file` by the ids in it; returns where each was read.

    They are copied into the configuration, so that a run does not depend on the file.
    """
    given = {path for path in flat if path.partition(".")[0] == "tasks"}
    if given <= {"tasks"}:
        return {}
    name = flat.pop("tasks.file", None)
    if given != {"tasks.file"} or not isinstance(name, str | Path):
        raise ConfigError("tasks: give ids, or a file of ids as tasks.file=PATH")
    file = Path(name)
    found: dict[str, str] = {}
    for place, task in _task_list(file):
        where = f"{file}, {place}"
        if task in found:
            raise ConfigError(f"tasks.file: {where}: {task!r} is listed twice")
        found[task] = where
    if not found:
        raise ConfigError(f"tasks.file: {file} lists no tasks")
    flat["tasks"] = list(found)
    return found


def _task_list(file: Path) -> list[tuple[str, str]]:
    """Ids with their places: one per line, where `#` begins a comment, or a JSON list."""
    try:
        require_file(file)
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"tasks.file: cannot read {file}: {reason}") from None
    if not text.lstrip().startswith("["):
        lines = ((f"line {n}", line.strip()) for n, line in enumerate(text.splitlines(), 1))
        return [(place, line) for place, line in lines if line and not line.startswith("#")]
    try:
        entries = [(f"entry {n}", each) for n, each in enumerate(json.loads(text), 1)]
    except json.JSONDecodeError as error:
        where = f"{file} is not JSON, line {error.lineno}"
        raise ConfigError(f"tasks.file: {where}: {error.msg}") from None
    except RecursionError:
        raise ConfigError(f"tasks.file: {file} is nested too deeply for a list of ids") from None
    for place, entry in entries:
        if not isinstance(entry, str):
            raise ConfigError(f"tasks.file: {file}: {place} is not a task id")
    return entries
