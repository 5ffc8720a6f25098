"""The user's own code in a run, which decides scores as settings do: which code, and its hashes.

A module counts with all that it imports from its own package or folder, wherever the import
stands; what is installed counts by its package alone. A class from a notebook or script counts
with the definitions and values that it uses there: the rest of a notebook may change. What
AgentQuest itself consists of is told by its version.
"""

import ast
import dis
import hashlib
import inspect
import linecache
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from agentquest import registry
from agentquest.config.settings import RunConfig, settings_model
from agentquest.files import hash_file
from agentquest.lib.settings import Settings, validate_settings

_MAIN = "__main__"
_HERE = Path(__file__).parents[1]
_PLAIN = (str, bytes, int, float, bool, type(None))
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_INSTALLED = ("site-packages", "dist-packages")


def hash_sources(config: RunConfig) -> dict[str, str]:
    """The code and files that play the run, by what a message calls them."""
    paths = [registry.target("benchmark", config.benchmark)]
    paths.append(registry.target("agent", config.agent.name))
    if config.llm is not None:
        paths.append(registry.target("model", config.llm.provider))
    agent = validate_settings(
        settings_model("agent", config.agent.name), config.agent.settings, "agent"
    )
    files = agent.source_files() if isinstance(agent, Settings) else ()
    return {**_hash_code(paths), **_hash_files(files)}


def hash_metrics(paths: Sequence[str]) -> dict[str, str]:
    """The code of the metrics that a configuration names."""
    for path in paths:
        registry.load_object("metric", path)
    return _hash_code(paths)


def _hash_code(paths: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in paths:
        module, _, name = path.partition(":")
        if module == _MAIN:
            found |= _hash_definitions(name)
        elif module.partition(".")[0] != __name__.partition(".")[0]:
            found |= _hash_module(module)
    return found


def _hash_module(name: str) -> dict[str, str]:
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        return {}
    source, parts = Path(file).resolve(), name.split(".")
    root = source.parents[len(parts) - (source.stem != "__init__")]
    is_installed = any(part in _INSTALLED for part in source.parts)
    return _hash_with_imports(source, root, parts[0] if is_installed else None)


def _hash_files(files: Iterable[Path]) -> dict[str, str]:
    """Files of the user, Python programs with what they import; their place does not count."""
    found: dict[str, str] = {}
    for file in files:
        source = file.resolve()
        if _HERE in source.parents:
            continue
        if source.suffix == ".py":
            found |= _hash_with_imports(source, source.parent)
        else:
            found[file.name] = hash_file(source)
    return found


def _hash_with_imports(source: Path, root: Path, only: str | None = None) -> dict[str, str]:
    """The file and all that it imports below `root`, or from the package `only`."""
    found: dict[Path, str] = {}
    waiting = [source]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found[file] = hash_file(file)
        package = file.relative_to(root).parts[:-1]
        for parts in _find_imports(file, package):
            if only in (None, parts[0]):
                waiting += _locate(root, parts)
    return {file.relative_to(root).as_posix(): found[file] for file in sorted(found)}


def _find_imports(file: Path, package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The dotted names that a file imports, as their parts, and those it may import."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = (*above, *(node.module.split(".") if node.module else ()))
            yield from filter(None, [base, *((*base, alias.name) for alias in node.names)])


def _locate(root: Path, parts: tuple[str, ...]) -> list[Path]:
    """The files that importing a name executes, as far as they are below `root`."""
    places = [root.joinpath(*parts[:length]) for length in range(1, len(parts) + 1)]
    files = [place / "__init__.py" for place in places]
    files += [place.with_name(f"{place.name}.py") for place in places]
    return [file for file in files if file.is_file()]


def _hash_definitions(name: str) -> dict[str, str]:
    """A class or metric of a notebook or script, and what it uses there."""
    main = sys.modules[_MAIN]
    file = getattr(main, "__file__", None)
    where = Path(file).name if file else "the notebook"
    root = Path(file).resolve().parent if file else Path.cwd()
    texts: dict[str, str] = {}
    code: dict[str, str] = {}
    outermost = name.partition(".")[0]
    waiting: list[tuple[str, Any]] = [(outermost, getattr(main, outermost))]
    while waiting:
        label, value = waiting.pop()
        if label in texts:
            continue
        module = value if isinstance(value, ModuleType) else inspect.getmodule(value)
        if isinstance(value, FunctionType | type | ModuleType) and module is not main:
            parts = tuple(module.__name__.split(".")) if module else ()
            for imported in _locate(root, parts) if parts else ():
                code |= _hash_with_imports(imported, root)
        elif isinstance(value, FunctionType | type):
            functions = list(_find_functions(value))
            texts[label] = _read_definition(value, functions)
            waiting += [(used, main.__dict__[used]) for used in _find_names(main, functions)]
            waiting += [(base.__name__, base) for base in getattr(value, "__bases__", ())]
        elif _is_plain(value):
            texts[label] = repr(value)
        elif label == outermost and hasattr(value, "value"):
            waiting.append((f"{label}.value", value.value))  # a metric: its function
    hashes = {label: hashlib.sha256(text.encode()).hexdigest() for label, text in texts.items()}
    return {**{f"{label} in {where}": hashes[label] for label in sorted(hashes)}, **code}


def _find_functions(value: FunctionType | type) -> Iterator[FunctionType]:
    """The function itself, or those of a class."""
    if isinstance(value, FunctionType):
        yield value
        return
    for member in vars(value).values():
        plain = getattr(member, "__func__", getattr(member, "fget", member))
        if isinstance(plain, FunctionType):
            yield plain


def _read_definition(value: FunctionType | type, functions: list[FunctionType]) -> str:
    """The text of a class or function; its byte code where nobody kept the text."""
    name = value.__name__
    for function in functions:
        text = "".join(linecache.getlines(function.__code__.co_filename))
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except SyntaxError:
            continue
        for node in nodes:
            if isinstance(node, _DEFINITIONS) and node.name == name:
                return ast.unparse(node)
    return repr([(one.__name__, one.__code__.co_code, one.__code__.co_consts) for one in functions])


def _find_names(main: ModuleType, functions: Iterable[FunctionType]) -> set[str]:
    """The names of the main module that functions read and do not set themselves."""
    read: set[str] = set()
    written: set[str] = set()
    waiting = [function.__code__ for function in functions]
    while waiting:
        code = waiting.pop()
        waiting += [one for one in code.co_consts if isinstance(one, CodeType)]
        for step in dis.get_instructions(code):
            if step.opname == "LOAD_GLOBAL":
                read.add(str(step.argval))
            elif step.opname == "STORE_GLOBAL":
                written.add(str(step.argval))
    return (read - written) & main.__dict__.keys()


def _is_plain(value: Any) -> bool:
    """Whether its `repr` says all of it, and the same in every process."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(one) for key, one in value.items())
    return isinstance(value, _PLAIN)
