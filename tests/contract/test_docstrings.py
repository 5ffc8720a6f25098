"""Every public name says what it is for.

Names are read from the source, so that a module counts even where the package that it
needs is not installed. A method may inherit its text from a base class; such a class is
imported to see. A setting's text is its documentation, so every field has one too.
"""

import ast
import importlib
import inspect
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pytest

import agentquest
from agentquest.extras import MissingExtra
from agentquest.lib.settings import Settings, describe_fields

SOURCE = Path(agentquest.__file__).parent

Named = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> Iterator[Path]:
    """Files whose path has no leading underscore; a package counts by its `__init__`."""
    for file in sorted(SOURCE.rglob("*.py")):
        place = file.relative_to(SOURCE)
        parts = place.parts[:-1] if file.name == "__init__.py" else place.with_suffix("").parts
        if not any(part.startswith("_") for part in parts):
            yield file


def dotted(file: Path) -> str:
    parts = file.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def named(body: list[ast.stmt]) -> Iterator[Named]:
    """Public classes and functions, also those that stand under a condition."""
    for node in body:
        if isinstance(node, Named):
            if not node.name.startswith("_") and not is_repeated(node):
                yield node
        elif isinstance(node, ast.If | ast.Try):
            yield from named([*node.body, *node.orelse])


def is_repeated(node: Named) -> bool:
    """Overloads and setters belong to a name that is documented elsewhere."""
    written = {ast.unparse(decorator) for decorator in node.decorator_list}
    return bool(written & {"overload", f"{node.name}.setter", f"{node.name}.deleter"})


def undocumented(tree: ast.Module, module: str) -> Iterator[str]:
    """The public names of a module that have no text of their own and inherit none."""
    if not ast.get_docstring(tree):
        yield module
    for node in named(tree.body):
        if not ast.get_docstring(node):
            yield f"{module}.{node.name}"
        if isinstance(node, ast.ClassDef):
            for member in named(node.body):
                if not ast.get_docstring(member) and not inherits(module, node, member.name):
                    yield f"{module}.{node.name}.{member.name}"


def inherits(module: str, owner: ast.ClassDef, name: str) -> bool:
    """Whether a base class documents this method."""
    if not owner.bases:
        return False
    try:
        found = getattr(importlib.import_module(module), owner.name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("agentquest"):
            raise
        return False
    except MissingExtra:
        return False
    inherited = [vars(base)[name] for base in found.__mro__[1:] if name in vars(base)]
    return any(inspect.getdoc(member) for member in inherited if is_documentable(member))


def is_documentable(member: object) -> bool:
    """A field's value also has a text, that of its type, which says nothing of the field."""
    wrapped = property | classmethod | staticmethod | cached_property | type
    return inspect.isroutine(member) or isinstance(member, wrapped)


def has_settings(tree: ast.Module) -> bool:
    """Whether a module has classes of settings, and so must be imported to see their fields."""
    bases = [base for node in tree.body if isinstance(node, ast.ClassDef) for base in node.bases]
    return any(ast.unparse(base).endswith("Settings") for base in bases)


def settings_classes(root: type[Settings] = Settings) -> Iterator[type[Settings]]:
    for child in root.__subclasses__():
        if child.__module__.startswith("agentquest."):
            yield child
        yield from settings_classes(child)


def test_every_public_name_has_a_docstring() -> None:
    missing = [
        name
        for file in modules()
        for name in undocumented(ast.parse(file.read_text(encoding="utf-8")), dotted(file))
    ]
    assert missing == []


def test_every_setting_has_a_description() -> None:
    for file in modules():
        if has_settings(ast.parse(file.read_text(encoding="utf-8"))):
            importlib.import_module(dotted(file))
    found = {
        f"{model.__module__}.{model.__name__}.{name}": text
        for model in settings_classes()
        for name, text in describe_fields(model).items()
    }
    assert [name for name, text in found.items() if not text] == []
    assert len(found) > 20


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ("class Told:\n 'x'\n def untold(self): ...", ["m.Told.untold"]),
        ("class Told:\n 'x'\n def _untold(self): ...", []),
        ("if True:\n def untold(): ...", ["m.untold"]),
        ("class Untold(Base): ...", ["m.Untold"]),
        ("class Told:\n 'x'\n @p.setter\n def p(self, v): ...", []),
    ],
)
def test_the_rule_sees(source: str, missing: list[str]) -> None:
    assert list(undocumented(ast.parse(f"'m'\n{source}"), "m")) == missing
