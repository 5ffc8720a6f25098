"""The fields and methods of the classes that users hold in their hands, as Markdown.

`python docs/site/fields.py` writes them into docs/python.md, so that the page can be read in a
clone; a test checks that it was done.
"""

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from agentquest.api import RunResult
from agentquest.lib import Answer, Episode, Observation, Session, SessionVector, Turn
from agentquest.records.episode import EpisodeRecord, Step

PAGE = Path(__file__).resolve().parents[1] / "python.md"
CLASSES = (
    *(Answer, Observation, Episode, Session, Turn, SessionVector),
    *(RunResult, EpisodeRecord, Step),
)
# The rest of a run is for those who write it.
_FOR_READERS = frozenset(
    [
        "complete",
        "live",
        "manifest",
        "path",
        "pending",
        "reason",
        "record",
        "records",
        "report",
        "rows",
        "state",
        "summary",
        "to_rows",
    ]
)
_PLACE = re.compile(r"(<!-- fields -->\n).*?(<!-- end of fields -->)", re.DOTALL)


def fill_in(page: str) -> str:
    """The page with its generated part as the code has it now."""
    return _PLACE.sub(lambda found: f"{found[1]}\n{describe()}\n{found[2]}", page)


def describe() -> str:
    """Every class with what it says of itself, its fields and its methods."""
    return "\n".join(line for one in CLASSES for line in _lines(one))


def _lines(one: type) -> Iterator[str]:
    name = "RunResult" if one is RunResult else one.__name__
    yield f"### {name}\n"
    yield f"`from {'agentquest' if one is RunResult else _home(one)} import {name}`\n"
    yield f"{_escape(inspect.getdoc(one) or '')}\n"
    if fields := list(_fields(one)):
        yield "| field | type | default |\n|---|---|---|"
        yield from (f"| `{name}` | `{kind}` | {default} |" for name, kind, default in fields)
        yield ""
    if methods := list(_methods(one)):
        yield "| property or method | |\n|---|---|"
        yield from (f"| `{shown}` | {_escape(said)} |" for shown, said in methods)
        yield ""


def _home(one: type) -> str:
    return "agentquest.lib" if one.__module__.startswith("agentquest.lib.") else one.__module__


def _fields(one: type) -> Iterator[tuple[str, str, str]]:
    if dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            has_default = field.default is not dataclasses.MISSING
            default = f"`{field.default!r}`" if has_default else ""
            if default.count("`") > 2:
                default = "a text"
            if field.default_factory is not dataclasses.MISSING:
                default = f"`{field.default_factory()!r}`"
            yield field.name, _kind(field.type), default
    for name in getattr(one, "_fields", ()):  # of a named tuple
        defaults = one._field_defaults  # type: ignore[attr-defined]
        kind = _kind(inspect.get_annotations(one)[name])
        yield name, kind, f"`{defaults[name]!r}`" if name in defaults else ""
    for name, info in getattr(one, "model_fields", {}).items():
        default = "" if info.is_required() else info.get_default(call_default_factory=True)
        yield (
            name,
            _kind(inspect.get_annotations(one)[name]),
            "" if info.is_required() else f"`{default!r}`",
        )
    if "__init__" in vars(one) and not dataclasses.is_dataclass(one):
        yield from _attributes(one)


def _attributes(one: type) -> Iterator[tuple[str, str, str]]:
    """What the constructor sets, if the code says its type."""
    given = inspect.signature(one).parameters
    source = inspect.getsource(one.__init__)  # type: ignore[misc]
    for name, kind, value in re.findall(r"self\.([a-z]\w*)(?:: (.+?))? = (.+)", source):
        if not _is_for_readers(one, name) or not (kind or name == value):
            continue
        default = given[name].default if name in given else inspect.Parameter.empty
        shown = "" if default is inspect.Parameter.empty else f"`{default!r}`"
        yield name, _kind(kind or given[name].annotation), shown


def _is_for_readers(one: type, name: str) -> bool:
    return not name.startswith("_") and (one is not RunResult or name in _FOR_READERS)


def _kind(annotation: Any) -> str:
    """The type as people write it, the same under every Python."""
    if isinstance(annotation, str):
        return annotation.replace("|", "\\|")
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(arguments[0])
    if origin in (Union, UnionType):
        return " \\| ".join(map(_kind, arguments))
    if annotation is type(None):
        return "None"
    if not arguments:
        return "..." if annotation is Ellipsis else getattr(annotation, "__name__", str(annotation))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    return f"{origin.__name__}[{', '.join(map(_kind, arguments))}]"


def _methods(one: type) -> Iterator[tuple[str, str]]:
    for name, found in vars(one).items():
        if not _is_for_readers(one, name):
            continue
        if isinstance(found, property):
            yield name, _first_sentence(found.fget)
        elif inspect.isfunction(found):
            given = list(inspect.signature(found).parameters)[1:]
            yield f"{name}({', '.join(given)})", _first_sentence(found)


def _first_sentence(function: Any) -> str:
    text = " ".join((inspect.getdoc(function) or "").split())
    return re.split(r"(?<=[.:]) (?=[A-Z`])", text)[0]


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(fill_in(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
