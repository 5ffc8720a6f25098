"""ARCHITECTURE's table is true: every room is in it, and imports what its row allows.

`lint-imports` holds the rules between layers; this holds the page to the code.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentquest

SOURCE = Path(agentquest.__file__).parent
PAGE = (Path(__file__).resolve().parents[2] / "ARCHITECTURE.md").read_text(encoding="utf-8")
FOR_EVERYBODY = {"errors", "extras", "files", "keeper", "platform", "safe_text", "version", "words"}
_ROW = re.compile(r"^\| `(\w+)` \| .* \| ([^|]+) \|$", re.MULTILINE)

ROOMS = {
    path.stem
    for path in SOURCE.iterdir()
    if path.suffix == ".py" or (path / "__init__.py").exists()
} - {"__init__", "__main__", *FOR_EVERYBODY}


def allowed(text: str) -> set[str]:
    """The rooms that a row's last column lists."""
    if text.startswith("everything but "):
        return ROOMS - {text.removeprefix("everything but ")}
    return {word for word in text.split(", ") if word != "–"}


ROWS = {room: allowed(column) for room, column in _ROW.findall(PAGE.partition("## How")[0])}


def imported(file: Path) -> Iterator[str]:
    """The rooms that a file imports, also within functions."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = [f"{node.module}.{name.name}" for name in node.names]
        for module in modules:
            package, _, rest = module.partition(".")
            if package == "agentquest":
                yield rest.partition(".")[0]


def test_every_room_has_a_row() -> None:
    assert set(ROWS) == ROOMS


@pytest.mark.parametrize("room", sorted(ROWS))
def test_a_room_imports_what_its_row_allows(room: str) -> None:
    folder = SOURCE / room
    files = list(folder.rglob("*.py")) if folder.is_dir() else [SOURCE / f"{room}.py"]
    found = {name for file in files for name in imported(file)} & ROOMS - {room}
    assert found <= ROWS[room]


def test_rows_name_rooms() -> None:
    for room, may in ROWS.items():
        assert may <= ROOMS, room


def test_the_page_is_one_page() -> None:
    assert len(PAGE.splitlines()) <= 110
