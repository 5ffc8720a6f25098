"""No benchmark's name in code outside its folder and the registry.

Whatever the rest must know of a benchmark, the benchmark declares. Docstrings and
comments are documents. The room `adapters` is an exception in one respect: it
imitates packages that are called like the benchmarks.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentquest
from agentquest import registry

SOURCE = Path(agentquest.__file__).parent
NAMES = re.compile("|".join(registry.BENCHMARKS), re.IGNORECASE)
EXEMPT = (SOURCE / "benchmarks", SOURCE / "adapters", SOURCE / "registry.py")
FILES = [
    file
    for file in sorted(SOURCE.rglob("*"))
    if file.suffix in (".py", ".txt", ".css", ".js", ".html")
    and not any(file.is_relative_to(exempt) for exempt in EXEMPT)
]


def docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    """What is written under a module, class, function or field to explain it."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                yield statement.value


def words(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name and text in the code, with its line."""
    explained = {id(node) for node in docstrings(tree)}
    for node in ast.walk(tree):
        if id(node) in explained:
            continue
        for _, value in ast.iter_fields(node):
            if isinstance(value, str):
                yield getattr(node, "lineno", 0), value


def named(source: str) -> list[tuple[int, str]]:
    return [found for found in words(ast.parse(source)) if NAMES.search(found[1])]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_no_benchmark_is_named(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert (named(text) if file.suffix == ".py" else NAMES.findall(text)) == []


@pytest.mark.parametrize("name", registry.BENCHMARKS)
def test_benchmarks_do_not_name_each_other(name: str) -> None:
    others = re.compile("|".join(set(registry.BENCHMARKS) - {name}), re.IGNORECASE)
    for file in sorted((SOURCE / "benchmarks" / name).rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        found = [word for word in words(tree) if others.search(word[1])]
        assert found == [], file


@pytest.mark.parametrize(
    "code",
    [
        "import agentquest.benchmarks.alfworld",
        "from agentquest.benchmarks.webshop import driver",
        'DEFAULT = "sudoku"',
        "def play_mastermind(): ...",
        "def play(alfworld): ...",
        "settings.webshop = 1",
        'f"agentquest play sudoku {task}"',
    ],
)
def test_the_scan_finds_names(code: str) -> None:
    assert named(code)


def test_the_scan_passes_over_explanations() -> None:
    code = """'As in ALFWorld.'

# or WebShop
class Limits:
    depth: int = 1
    'Of a Sudoku.'
"""
    assert not named(code)
