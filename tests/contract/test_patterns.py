"""No pattern of ours costs more than its text is long, whatever the text: see `growth`."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable

import pytest

import agentquest
from agentquest.errors import UserError
from growth import MOST, growth, repeated

UNITS = ("a", " ", "\n", "[", "<b>", "1", "a ", "Action:")
_SEARCHES = r"\.(?:findall|finditer|search|split|subn?)\("


def patterns() -> dict[str, Callable[[str], object]]:
    """Every pattern in a module, by where it stands, as it is used there."""
    found: dict[str, Callable[[str], object]] = {}
    for module in pkgutil.walk_packages(agentquest.__path__, "agentquest."):
        if module.name.endswith("__main__"):
            continue
        try:
            opened = importlib.import_module(module.name)
        except (ImportError, UserError):
            continue  # a package that is not installed here
        source = inspect.getsource(opened)
        for name, value in vars(opened).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                searches = re.search(rf"\b{name}{_SEARCHES}", source)
                found[f"{module.name}.{name}"] = value.findall if searches else value.match
    return found


PATTERNS = patterns()


def test_there_are_patterns() -> None:
    assert len(PATTERNS) > 60


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_the_cost_grows_no_faster_than_the_text(name: str) -> None:
    for unit in UNITS:
        assert growth(PATTERNS[name], repeated(unit), start=25_000) < MOST, unit
