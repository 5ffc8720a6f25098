"""What a player's lines do, without a terminal: on ALFWorld, and on a benchmark of another kind."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentquest.benchmarks.alfworld import AlfWorldDriver, AlfWorldUtils
from agentquest.benchmarks.alfworld.benchmark import AlfWorldView, group_names
from agentquest.errors import UnknownName
from agentquest.lib import (
    Action,
    Driver,
    Metrics,
    Observation,
    Oracle,
    Outcome,
    State,
    Task,
    TerminalView,
)
from agentquest.people.session import WORDS, Continuation, GameReply, PlaySession
from agentquest.people.terminal import find_task
from agentquest.words import parse_whole_number

GAMES = AlfWorldUtils.load_data(source="valid_seen", data_path="builtin")


def session_of(problem: str) -> PlaySession:
    driver = AlfWorldDriver(problem)
    return PlaySession(driver, AlfWorldView(), Oracle(driver.oracle_actions))


def snapshot(session: PlaySession) -> tuple[object, ...]:
    driver = session.driver
    assert isinstance(driver, AlfWorldDriver)
    return (
        driver.engine.state,
        session.observation,
        session.observation.admissible,
        driver.metrics.export(),
        driver.outcome,
    )


@settings(max_examples=40, deadline=None)
@given(
    game=st.sampled_from(GAMES),
    choices=st.lists(st.integers(0, 10_000), max_size=12),
    nonsense=st.text(max_size=20),
)
def test_undo_leads_back_through_every_state(game: str, choices: list[int], nonsense: str) -> None:
    session = session_of(game)
    before = []
    for choice in choices:
        before.append(snapshot(session))
        commands = [*session.observation.admissible, f"x{nonsense}"]
        session.answer(commands[choice % len(commands)])
        if session.over:
            break
    for expected in reversed(before):
        assert session.answer("undo").moved
        assert snapshot(session) == expected
    assert session.answer("undo") == GameReply(notice="There is nothing to undo.")
    assert session.undone == len(before)


@settings(max_examples=60, deadline=None)
@given(line=st.text(max_size=40))
def test_a_line_is_sent_to_the_game_as_it_was_typed(line: str) -> None:
    session = session_of(GAMES[0])
    word = line.strip().lower()
    session.answer(line)
    if word in {*WORDS, "?", "exit", ""}:
        assert session.steps == 0
    else:
        assert session.driver.metrics.action_values == [line]


@pytest.mark.parametrize("game", GAMES[::20])
def test_our_words_cost_no_step_and_change_nothing(game: str) -> None:
    session = session_of(game)
    session.answer(session.observation.admissible[0])
    before = snapshot(session)
    for word in ("hint", "?", "HINT ALL", " commands ", "task", "next", "quit", "exit", "", "  "):
        assert not session.answer(word).moved
        assert snapshot(session) == before
    assert session.answer("0").notice
    assert session.answer("next").then is Continuation.NEXT_GAME
    assert session.answer("exit").then is Continuation.LEAVE


@pytest.mark.parametrize("game", GAMES[::10])
def test_the_lists_hold_every_command_once_under_the_number_that_chooses_it(game: str) -> None:
    session = session_of(game)
    session.answer(session.observation.admissible[0])
    groups = session.answer("commands").groups
    assert sorted(session.listed) == sorted(session.observation.admissible)
    numbers = [number for entries in groups.values() for number, _ in entries]
    assert numbers == list(range(1, len(session.listed) + 1))
    for verb, entries in groups.items():
        for number, text in entries:
            full = text if verb == "other" else f"{verb} {text}"
            assert session.listed[number - 1] == full


def test_a_number_is_a_command_until_a_list_was_shown() -> None:
    session = session_of(GAMES[0])
    assert session.answer("1").text == "Nothing happens."
    session.answer("hint")
    assert session.answer("1").chosen == session.listed[0]
    assert session.driver.metrics.action_values == ["1", session.listed[0]]


def test_completions_fit_word_by_word() -> None:
    session = session_of(GAMES[0])
    everything = session.completions("")
    assert everything == [*session.observation.admissible, *WORDS]
    place = session.observation.admissible[0].removeprefix("go to ")
    assert session.completions(f"g {place[:3]}")[0].startswith(f"go to {place[:3]}")
    assert session.completions("Un") == ["undo"]
    assert session.completions("to go") == []
    # What begins like the line comes before what merely holds it.
    assert session.completions("com")[0] == "commands"


def test_a_won_game_takes_no_more_commands_but_can_be_taken_back() -> None:
    session = session_of(GAMES[0])
    for _ in range(session.shortest):
        session.answer("hint")
        session.answer("1")
    assert session.over
    assert session.hints == session.steps == session.shortest
    for line in ("look", "1", "commands", "hint"):
        assert not session.answer(line).moved
    assert session.completions("") == list(WORDS)
    assert session.answer("").then is Continuation.NEXT_GAME
    session.answer("undo")
    assert not session.over
    session.answer("restart")
    assert (session.steps, session.hints, session.undone) == (0, 0, 0)


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["desk 1"], "desk 1"),
        (["shelf 2", "desk 1", "shelf 1"], "desk 1, shelf 1–2"),
        (["shelf 10", "shelf 9", "shelf 3", "shelf 1", "shelf 2"], "shelf 1–3 9–10"),
    ],
)
def test_receptacles_in_groups(names: list[str], short: str) -> None:
    assert group_names(names) == short


@pytest.mark.parametrize("game", GAMES[::10])
def test_the_room_names_every_place_there_is_to_go(game: str) -> None:
    session = session_of(game)
    shown = session.view.room(session.introduction)
    kinds = {c.split()[2] for c in session.observation.admissible if c.startswith("go to ")}
    assert kinds == {item.split()[0] for item in shown.split(": ")[1].rstrip(".").split(", ")}


def test_a_room_worded_otherwise_is_shown_as_it_is() -> None:
    text = "Welcome\n\nYou are facing the bed 1.\n\nYour task is to: rest."
    assert AlfWorldView().room(Observation("", False, True, text)) == "You are facing the bed 1."


class Countdown(Metrics):
    def progress_function(self, state: State) -> float:
        return float(state.value) / 3


class Shop(Driver):
    """Buys after `buy`, well or badly; `burn` puts the goal out of reach."""

    metrics_class = Countdown

    def __init__(self) -> None:
        super().__init__()
        self.last = ""
        self.reachable = True

    @property
    def outcome(self) -> Outcome:
        bought = self.last == "buy"
        return Outcome(bought, False, 0.5 if bought else 0.0, 0.0, self.reachable)

    def _reset(self) -> tuple[str, Observation]:
        self.last, self.reachable = "", True
        return "buy well", Observation("The door opens.", False, True)

    def _step(self, action: Action) -> tuple[State, Observation]:
        self.last = action.value
        self.reachable = self.reachable and action.value != "burn"
        return State(1), Observation(f"You {action.value}.", False, self.last != "buy")


def test_a_benchmark_without_a_view_of_its_own_can_be_played() -> None:
    session = PlaySession(Shop())
    assert type(session.view) is TerminalView
    assert session.goal == "buy well"
    assert session.view.room(session.introduction) == "The door opens."
    assert session.answer("hint").notice == "This benchmark has no oracle to ask."
    burnt = session.answer("burn")
    assert burnt.text == "You burn."
    assert "The goal can no longer be reached" in burnt.warning
    assert session.answer("undo").warning == ""
    assert session.answer("buy").text == "You buy."
    assert session.over
    assert not session.driver.outcome.success


class Digits(Shop):
    """A game whose commands are numbers."""

    def accepts(self, value: str) -> bool:
        return value.isdigit()


def test_a_number_is_a_command_where_the_game_asks_for_one_and_the_list_has_no_such() -> None:
    session = PlaySession(Digits(), oracle=Oracle(lambda: ["1234"]))
    session.answer("hint")
    for guess in ("4321", "0001"):
        assert session.answer(guess).text == f"You {guess}."
    assert session.answer("1").chosen == "1234"


def test_a_command_that_is_not_possible_is_answered_with_the_one_that_was_meant() -> None:
    session = session_of(GAMES[0])
    place = session.observation.admissible[0].removeprefix("go to ")
    reply = session.answer(f"got to {place}")
    assert reply.text == "Nothing happens."
    assert reply.hint == f"Did you mean `go to {place}`?"
    assert session.steps == 1, "it cost its step, as it does an agent"
    assert session.answer("juggle with seven balls").hint == ""
    assert session.answer(f"go to {place}").hint == ""


def test_a_thing_named_without_its_number_is_understood_here_and_elsewhere() -> None:
    session = session_of(next(game for game in GAMES if "-Fridge-" in game))
    elsewhere = "Did you mean `open fridge 1`? It is not possible from here."
    assert session.answer("open fridge").hint == elsewhere
    session.answer("go to fridge 1")
    assert session.answer("open Fridge").hint == "Did you mean `open fridge 1`?"
    session.answer("open fridge 1")
    thing = session.observation.text.partition(" you see a ")[2].partition(" ")[0]
    assert session.answer(f"take {thing}").hint.startswith(f"Did you mean `take {thing} ")


def test_moves_are_what_stands_with_its_help() -> None:
    session = session_of(GAMES[0])
    session.answer("look")
    session.answer("hint")
    session.answer("1")
    session.answer("inventory")
    session.answer("undo")
    first = session.driver.metrics.action_values[1]
    assert [(move.command, move.how) for move in session.moves] == [
        ("look", "typed"),
        (first, "after_hint"),
    ]
    game = session.finish(Task("s/a/t", "a", "s", ""), {"played on from": "x"})
    assert game.facts == {"hints": "1", "undone": "1", "played on from": "x"}
    session.answer("restart")
    assert session.moves == []
    assert (session.all_hints, session.all_undone, session.restarts) == (1, 1, 1)


TASKS = [Task(f"s/{kind}-{i}/t", kind, "s", "") for kind in ("find_it", "find_two") for i in (1, 2)]


@pytest.mark.parametrize(
    ("wanted", "place"), [("1", 0), ("4", 3), ("s/find_it-2/t", 1), ("TWO-1", 2)]
)
def test_finding_a_task(wanted: str, place: int) -> None:
    assert find_task(TASKS, wanted) is TASKS[place]


@pytest.mark.parametrize("wanted", ["0", "5", "-1", "find", "", "x", "9" * 5000, "²"])
def test_a_task_that_is_not_meant_clearly_is_an_error(wanted: str) -> None:
    with pytest.raises(UnknownName) as error:
        find_task(TASKS, wanted)
    assert len(str(error.value)) < 400


def test_numbers() -> None:
    texts = ("0", "12", "", "-1", "²", "٣", "9" * 5000, "1 2")
    assert [parse_whole_number(text) for text in texts] == [0, 12] + [None] * 6
