"""Which episodes a query finds, and in which order."""

from pathlib import Path

import pytest

from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from agentquest.store.library import Library
from agentquest.store.search import TextIndex
from agentquest.viewer.filters import Found, find, search
from report_runs import manifest, record, saved, step

TASKS = {
    "swift": ["go to desk 1", "take book 1 from desk 1"],
    "fair": ["look", "go to desk 1", "look", "open drawer 1"],
    "still": ["look", "look", "look", "look"],
}
PROGRESS = {"swift": 1.0, "fair": 0.5, "still": 0.0}
SECONDS = {"swift": 5.0, "fair": 9.0, "still": 1.0}


def episode(task: str) -> EpisodeRecord:
    actions = TASKS[task]
    solved = task == "swift"
    steps = [
        step(place, action=action, valid=action != "open drawer 1", progress=PROGRESS[task])
        for place, action in enumerate(actions, start=1)
    ]
    return record(
        task,
        End.SOLVED if solved else End.STEP_LIMIT,
        steps,
        task_type="look_at_obj_in_light" if task == "fair" else "pick_and_place_simple",
        seconds=SECONDS[task],
        repetition_rate=(len(actions) - len(set(actions))) / (len(actions) - 1),
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("runs")
    saved(folder / "run", [*map(episode, TASKS)], manifest(task_ids=[*TASKS]))
    return Library(folder)


def ask(
    library: Library, most_bytes: int = 1_000_000, texts: TextIndex | None = None, **query: str
) -> Found:
    run = library.run("run")
    known = texts or TextIndex(run.episodes)
    return find(run, query, search(run, query, known, most_bytes)() if "text" in query else None)


def tasks(found: Found) -> list[str]:
    return [one.task_id for one in found.rows]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("", ["swift", "fair", "still"]),
        ("most repetition", ["still", "fair", "swift"]),
        ("most invalid actions", ["fair", "swift", "still"]),
        ("least progress", ["still", "fair", "swift"]),
        ("most steps", ["fair", "still", "swift"]),
        ("slowest", ["fair", "swift", "still"]),
        ("no such order", ["swift", "fair", "still"]),
    ],
)
def test_episodes_are_in_the_order_asked_for(
    library: Library, order: str, expected: list[str]
) -> None:
    assert tasks(ask(library, sort=order)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"outcome": "won"}, ["swift"]),
        ({"end": "step_limit"}, ["fair", "still"]),
        ({"type": "look_at_obj_in_light"}, ["fair"]),
        ({"type": "look_at_obj_in_light", "outcome": "won"}, []),
        ({"invalid": "1"}, ["fair"]),
        ({"invalid": "0"}, ["swift", "fair", "still"]),
        ({"invalid": "many"}, ["swift", "fair", "still"]),
        ({"repetition": "0.3"}, ["fair", "still"]),
        ({"repetition": "1"}, ["still"]),
    ],
)
def test_a_filter_leaves_what_fits(
    library: Library, query: dict[str, str], expected: list[str]
) -> None:
    assert tasks(ask(library, **query)) == expected


def test_words_are_found_with_the_first_step_that_has_them(library: Library) -> None:
    found = ask(library, text="OPEN drawer")
    assert tasks(found) == ["fair"]
    assert found.steps == {"fair#0": 4}
    assert (found.searched, found.among) == (3, 3)


def test_a_goal_is_found_without_reading_the_record(library: Library) -> None:
    found = ask(library, most_bytes=0, text="some book")
    assert tasks(found) == ["swift", "fair", "still"]
    assert found.steps == {}


def test_a_search_stops_after_its_bytes_and_goes_on_from_there(library: Library) -> None:
    texts = TextIndex(library.run("run").episodes)
    first = ask(library, most_bytes=0, texts=texts, text="shelf 2")
    assert (tasks(first), first.searched, first.among) == (["swift"], 1, 3)
    rest = ask(library, texts=texts, text="shelf 2")
    assert (tasks(rest), rest.searched) == (["swift", "fair", "still"], 3)


def test_a_record_is_read_for_the_first_search_only(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = TextIndex(library.run("run").episodes)
    before = ask(library, texts=texts, text="drawer")

    def refuse(content: bytes) -> bytes:
        raise AssertionError("a record was read")

    monkeypatch.setattr("agentquest.store.search._texts_of", refuse)
    assert ask(library, texts=texts, text="drawer") == before
    assert tasks(ask(library, texts=texts, text="desk 1")) == ["swift", "fair"]


@pytest.mark.parametrize("block", [1, 100, 1 << 20])
def test_every_text_is_found_in_its_step_and_none_across_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr("agentquest.store.search._BLOCK", block)
    steps = [
        step(1, action="ÄPFEL", observation="first\0end", reasoning="deep \U0001f600"),
        step(2, action=None, observation="first", reply="Straße"),
    ]
    named = [record("a", steps=steps), record("b"), record("c", steps=steps[:1])]
    saved(tmp_path / "run", named, manifest(task_ids=["a", "b", "c"]))
    texts = TextIndex(tmp_path / "run" / "episodes.jsonl")
    library = Library(tmp_path)
    for text, expected in (
        ("äpfel", {"a#0": 1, "c#0": 1}),
        ("\U0001f600", {"a#0": 1, "c#0": 1}),
        ("STRASSE", {}),
        ("straße", {"a#0": 2}),
        ("first", {"a#0": 1, "c#0": 1}),
        ("in a room", {"a#0": 0, "b#0": 0, "c#0": 0}),
        ("room.\0äpfel", {}),
        ("shelf 2", {"b#0": 2}),
        ("nothing like this", {}),
    ):
        assert ask(library, texts=texts, text=text).steps == expected, text
