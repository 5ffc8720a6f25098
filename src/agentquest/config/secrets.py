"""Finding API keys in the wrong fields before anything is written.

A configuration is saved to `config.yaml`, the manifest and reports. The one field for a
key is never saved; every other one is, so anything that looks like a key there is refused.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agentquest.errors import ConfigError

KEY_FIELD = "llm.api_key"
_NAMES = re.compile(
    r"(?:^|[_-])(?:api[_-]?keys?|secret|password|passwd|authorization|bearer"
    r"|(?:access|auth)[_-]?token)$",
    re.IGNORECASE,
)
_PREFIXES = re.compile(
    r"(?:Bearer )?(?:(?:sk|pk|rk|gsk|hf|r8|xai|ghp|gho|pplx|nvapi|sess)[-_]|AIza|AKIA)"
    r"[-_A-Za-z0-9]{16,}"
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def refuse_secrets(settings: Mapping[str, Any]) -> None:
    """Raise if a field that is saved holds a key; its value is not shown."""
    for path, value in _texts(settings, ""):
        if path == KEY_FIELD:
            continue
        last = path.rpartition(".")[2]
        if last == "api_key_env":
            is_secret = _VARIABLE.fullmatch(value) is None or _is_key(value)
        elif path.startswith("agent.headers."):
            is_secret = _is_key(value)  # they name variables: see there
        else:
            is_secret = _is_key(value) or _NAMES.search(last) is not None
        if is_secret:
            raise ConfigError(
                f"{path}: a key or password here would be saved in the run's files;"
                " put it in an environment variable and name that in llm.api_key_env"
            )


def _is_key(value: str) -> bool:
    return _PREFIXES.fullmatch(value.strip()) is not None and any(map(str.isdigit, value))


def _texts(node: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _texts(value, f"{path}.{key}" if path else str(key))
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _texts(value, path)
    elif isinstance(node, str) and node:
        yield path, node
