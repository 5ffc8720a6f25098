"""Which episodes a query finds, and in which order."""

import pytest

from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from agentquest.store.library import Library
from agentquest.viewer.filters import Found, find
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


def ask(library: Library, most_bytes: int = 1_000_000, **query: str) -> Found:
    return find(library.run("run"), query, most_bytes)


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
    first = ask(library, most_bytes=0, text="shelf 2")
    assert (tasks(first), first.searched, first.among) == (["swift"], 1, 3)
    rest = ask(library, text="shelf 2", after=str(first.searched))
    assert (tasks(rest), rest.searched) == (["fair", "still"], 3)
