"""No benchmark's name and none of its words in code outside its folder and the registry.

Whatever the rest must know of a benchmark, the benchmark declares: its verbs, its
pictures, how its sentences are read. Docstrings and comments are documents. The room
`adapters` is an exception: it imitates packages that are called like the benchmarks and
speak like them.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Set
from pathlib import Path

import pytest

import agentquest
from agentquest import registry
from agentquest.lib import Benchmark

SOURCE = Path(agentquest.__file__).parent
NAMES = re.compile("|".join(registry.BENCHMARKS), re.IGNORECASE)
EXEMPT = (SOURCE / "benchmarks", SOURCE / "adapters", SOURCE / "registry.py")
FILES = [
    file
    for file in sorted(SOURCE.rglob("*"))
    if file.suffix in (".py", ".txt", ".css", ".js", ".html")
    and not any(file.is_relative_to(exempt) for exempt in EXEMPT)
]

# Words from which code would read or write a benchmark's commands and sentences.
FRAGMENTS = {
    "alfworld": (
        *(", you see", "you arrive", "you pick up", "you turn on", "you open", "you close the"),
        *(" is closed.", "in/on", "nothing happens", "your task is to:", "facing the", "carrying"),
        *("you put", "you move", "sliced", "go to", "fridge", "drawer", "microwave"),
    ),
    "mastermind": ("guess:", "correct position", "secret number"),
    "sudoku": ("column:", "game state"),
    "webshop": ("[sep]", "click[", "search[", "buy now", "back to search", "instruction:"),
}
# Rooms that read commands; elsewhere `open` and `close` are of files and sessions.
READERS_OF_COMMANDS = ("metrics", "play", "reports", "store", "viewer")
# Documented texts of others that happen to be a benchmark's, and what version 0.2 recorded.
KNOWN_TEXTS = {
    "a2a/messages.py": {"Nothing happens."},
    "a2a/white.py": {"go to kitchen", "Available actions (choose one):\n  1. go to desk 1"},
    "records/manifest.py": {"go to"},
}


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


def texts(tree: ast.AST) -> Iterator[str]:
    """Every text in the code that is not an explanation."""
    explained = {id(node) for node in docstrings(tree)}
    for node in ast.walk(tree):
        text = getattr(node, "value", None)
        if isinstance(node, ast.Constant) and isinstance(text, str) and id(node) not in explained:
            yield text


def named(source: str) -> list[tuple[int, str]]:
    return [found for found in words(ast.parse(source)) if NAMES.search(found[1])]


def find_knowledge(texts: Iterator[str], verbs: Set[str] = frozenset()) -> list[str]:
    """Texts that hold a fragment of a benchmark, or are one of the verbs."""
    fragments = [fragment for known in FRAGMENTS.values() for fragment in known]
    return [
        text
        for text in texts
        if any(fragment in text.lower() for fragment in fragments) or text.strip() in verbs
    ]


def declared_verbs() -> set[str]:
    found: set[str] = set()
    for name in registry.BENCHMARKS:
        benchmark: type[Benchmark] = registry.load("benchmark", name)
        found.update(benchmark.verbs.model_dump().values())
    return found - {""}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_no_benchmark_is_named(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert (named(text) if file.suffix == ".py" else NAMES.findall(text)) == []


@pytest.mark.parametrize(
    "file",
    [file for file in FILES if file.suffix == ".py"],
    ids=lambda file: str(file.relative_to(SOURCE)),
)
def test_no_benchmark_is_known(file: Path) -> None:
    place = file.relative_to(SOURCE)
    verbs = declared_verbs() if place.parts[0] in READERS_OF_COMMANDS else set()
    found = find_knowledge(texts(ast.parse(file.read_text(encoding="utf-8"))), verbs)
    assert set(found) == KNOWN_TEXTS.get(place.as_posix(), set())


@pytest.mark.parametrize("name", registry.BENCHMARKS)
def test_the_fragments_are_those_of_the_benchmark(name: str) -> None:
    files = sorted((SOURCE / "benchmarks" / name).rglob("*.py"))
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    spoken = "\n".join(text for tree in trees for text in texts(tree)).lower()
    assert [fragment for fragment in FRAGMENTS[name] if fragment not in spoken] == []


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


@pytest.mark.parametrize(
    "code",
    [
        'opened = argument(action, "open")',
        'places = [a for a in actions if a.startswith("go to ")]',
        'CONTENTS = re.compile(r"On the ([a-z]+ \\d+), you see ([^.]*)")',
        'pieces = text.split(" [SEP] ")',
        'f"search[{words}]"',
        "MOVE = 'Row: {row}, Column: {column}'",
    ],
)
def test_the_scan_finds_knowledge(code: str) -> None:
    assert find_knowledge(texts(ast.parse(code)), declared_verbs())


def test_the_scan_passes_over_explanations() -> None:
    code = """'As in ALFWorld, where you see a desk.'

# or WebShop
class Limits:
    depth: int = 1
    'Of a Sudoku.'
    def open(self): self.file.close()
"""
    assert not named(code)
    assert not find_knowledge(texts(ast.parse(code)), declared_verbs())


def test_files_of_tests_have_names_of_their_own() -> None:
    """Two of one name can be collected alone, but not together."""
    names = Counter(file.name for file in Path(__file__).parents[1].rglob("test_*.py"))
    assert [name for name, number in names.items() if number > 1] == []
