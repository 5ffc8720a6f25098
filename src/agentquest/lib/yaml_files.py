"""Reading a YAML file of settings: no key twice, and `${NAME}` from the environment.

`${NAME}` in a value is replaced by an environment variable; `$${` is a literal `${`. A variable
named like a key is expanded only in fields that are never saved: records must not hold one.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import yaml

from agentquest.errors import ConfigError

_VARIABLE = re.compile(r"(\$?)\$\{([^}]*)\}?")
_LONGEST = 2_000_000
_MOST_VALUES = 100_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET_WORDS = frozenset(
    {"KEY", "APIKEY", "SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASS", "PAT", "CREDENTIALS"}
)
# Fields that may hold a key: they are never saved.
_UNWRITTEN = frozenset({"api_key", "llm.api_key"})


class _UniqueKeys(yaml.SafeLoader):
    """YAML that refuses duplicate keys, of which one would otherwise be lost silently."""

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


def read_yaml(file: Path) -> dict[str, Any]:
    """The keys and values of a file, with variables filled in."""
    try:
        with file.open(encoding="utf-8") as opened:  # which may be a device that never ends
            content = parse_yaml(opened.read(_LONGEST + 1), variables=True)
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8: {error.reason} at byte {error.start}") from None
    except ValueError:  # a NUL in it
        raise ConfigError(f"{str(file)!r} cannot be the name of a file") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{file} is not YAML{_place(error)}") from None
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        kind = "text" if isinstance(content, str) else f"a {type(content).__name__}"
        raise ConfigError(f"{file} contains {kind} instead of keys and values like `num_games: 12`")
    return content


def without_variables(value: Any) -> Any:
    """Plain data for a file, escaped so that `${` is read back literally."""
    if isinstance(value, str):
        return value.replace("${", "$${")
    if isinstance(value, dict):
        return {key: without_variables(item) for key, item in value.items()}
    return [without_variables(item) for item in value] if isinstance(value, list) else value


def parse_yaml(text: str, variables: bool = False) -> Any:
    """The content of a YAML text; refused if it is huge, or is once its aliases are expanded."""
    if len(text) > _LONGEST:
        raise ConfigError(f"it has more than {_LONGEST:,} characters")
    loader = _UniqueKeys(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _count_values(node, {})
        if variables:
            _fill_in(loader, node, "", set())
        return loader.construct_document(node)
    except RecursionError:
        raise ConfigError("it is nested too deeply") from None
    except (ValueError, TypeError, OverflowError):
        # The value is not shown: it may be a key.
        raise ConfigError("it has an invalid date or number") from None
    finally:
        loader.dispose()


def parse_setting(name: str, text: str) -> Any:
    """The value of `name=text` on a command line."""
    try:
        return parse_yaml(text)
    except yaml.YAMLError:
        raise ConfigError(f"{name}: the value is not YAML") from None
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None


def _count_values(node: Any, known: dict[int, int | None]) -> int:
    """How many values a node expands to; refused if it contains itself, or millions."""
    if id(node) in known:
        size = known[id(node)]
        if size is None:
            raise ConfigError("an alias refers to a value that contains it")
        return size
    known[id(node)] = None
    size = 1
    for item in node.value if isinstance(node, yaml.CollectionNode) else ():
        size += sum(
            _count_values(part, known) for part in (item if type(item) is tuple else [item])
        )
    if size > _MOST_VALUES:
        raise ConfigError(f"it expands to more than {_MOST_VALUES} values")
    known[id(node)] = size
    return size


def _fill_in(loader: yaml.SafeLoader, node: yaml.Node, path: str, seen: set[int]) -> None:
    """Replace variables in all values below a node; an aliased node is filled in once."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            _fill_in(loader, value, f"{path}.{key.value}".lstrip("."), seen)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _fill_in(loader, item, path, seen)
    elif isinstance(node, yaml.ScalarNode) and "${" in node.value:
        where = f"line {node.start_mark.line + 1}, {path or 'the value'}"
        node.value = _VARIABLE.sub(lambda found: _value(found, path, where), node.value)
        if node.style is None:  # unquoted: the value of `${N}` may be a number
            resolve: Callable[..., str] = loader.resolve
            node.tag = resolve(yaml.ScalarNode, node.value, (True, False))


def _value(found: re.Match[str], path: str, where: str) -> str:
    escape, name = found.groups()
    if escape:
        return found.group()[1:]
    if not _NAME.fullmatch(name) or not found.group().endswith("}"):
        raise ConfigError(
            f"{where}: ${{NAME}} needs a variable's name (write $${{ for a literal ${{)"
        )
    if _is_key(name) and path.lower() not in _UNWRITTEN:
        raise ConfigError(
            f"{where}: ${{{name}}} is named like a key, which would be saved in the run's files;"
            " for a model's key, name the variable in llm.api_key_env"
        )
    if name not in os.environ:
        raise ConfigError(f"{where}: the environment variable {name} is not set; export it")
    return os.environ[name]


def _is_key(name: str) -> bool:
    return not _SECRET_WORDS.isdisjoint(name.upper().split("_"))


def _place(error: yaml.YAMLError) -> str:
    """The position and the problem; the line is not shown, because it may hold a key."""
    mark = getattr(error, "problem_mark", None)
    where = f", line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
    problem = getattr(error, "problem", None)
    if problem and r"'\t'" in problem:
        problem = "a tab, where YAML takes only spaces"
    return f"{where}: {problem}" if problem else where
