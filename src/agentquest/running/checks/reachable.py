"""What can be reached from an object through attributes, containers and closures.

Python hides nothing from code that looks into frames or the garbage collector;
this is about what an agent holds, or is handed, in the ordinary way.
"""

import functools
import types
import weakref
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

_LEAVES = (str, bytes, int, float, complex, bool, type(None), types.ModuleType, Enum)


def reachable(*roots: Any, classes: bool = True) -> dict[int, tuple[Any, str]]:
    """Every reachable object, by its id, with the path to it.

    With `classes`, what is kept in classes is followed too.
    """
    found: dict[int, tuple[Any, str]] = {}
    waiting = [(root, type(root).__name__) for root in roots]
    while waiting:
        thing, way = waiting.pop()
        if isinstance(thing, _LEAVES) or id(thing) in found:
            continue
        found[id(thing)] = (thing, way)
        waiting += [(inner, way + step) for step, inner in _within(thing, classes)]
    return found


def _within(thing: Any, classes: bool) -> Iterator[tuple[str, Any]]:
    match thing:
        case type():
            if classes and thing.__module__ != "builtins":
                kept = {k: v for k, v in vars(thing).items() if not k.startswith("__")}
                yield from _named(kept)
        case Mapping():
            yield from ((f"[{key!r}]"[:40], value) for key, value in thing.items())
            yield from (("<key>", key) for key in thing)
        case list() | tuple() | set() | frozenset():
            yield from ((f"[{place}]", item) for place, item in enumerate(thing))
        case types.FunctionType():
            yield from _closed_over(thing)
        case types.MethodType():
            yield ".__self__", thing.__self__
            yield ".__func__", thing.__func__
        case types.BuiltinFunctionType():
            yield ".__self__", thing.__self__
        case functools.partial():
            yield from ((".func", thing.func), (".args", thing.args), (".kwargs", thing.keywords))
        case property():
            yield from ((".fget", thing.fget), (".fset", thing.fset))
        case staticmethod() | classmethod():
            yield ".__func__", thing.__func__
        case weakref.ref():
            yield "()", thing()
    if not isinstance(thing, type | types.FunctionType):
        yield from _attributes(thing)
        yield "<class>", type(thing)


def _attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    yield from _named(getattr(thing, "__dict__", {}))
    for owner in type(thing).__mro__:
        for name, slot in vars(owner).items():
            if isinstance(slot, types.MemberDescriptorType) and hasattr(thing, name):
                yield f".{name}", getattr(thing, name)


def _closed_over(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield f".<closure {name}>", cell.cell_contents
        except ValueError:  # not filled yet
            continue
    yield from (("<default>", value) for value in function.__defaults__ or ())
    yield from _named(function.__kwdefaults__ or {})


def _named(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((f".{name}", value) for name, value in values.items())
