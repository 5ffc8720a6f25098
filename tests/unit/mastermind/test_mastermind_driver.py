"""The documented API of Mastermind: what is said, what counts as a guess, what is measured."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.benchmarks.mastermind import (
    MasterMindAction,
    MasterMindDriver,
    MasterMindObservation,
    MasterMindState,
    MasterMindUtils,
)
from agentquest.benchmarks.mastermind.driver import marks
from agentquest.errors import UnknownName, UserError

NUMBERS = st.text("0123456789", min_size=1, max_size=8)


def started(goal: str) -> MasterMindDriver:
    driver = MasterMindDriver(goal=goal)
    driver.reset()
    return driver


def test_worked_example() -> None:
    driver = started("5918")
    said = [driver.step(MasterMindAction(value=guess)) for guess in ("5297", "5198", "5918")]
    assert said[0].output == (
        "Wrong! Your guess has 1 correct digit in the correct position"
        " and 1 correct digit in the wrong position. Keep guessing."
    )
    assert said[1].output == (
        "Wrong! Your guess has 2 correct digits in the correct positions"
        " and 2 correct digits in the wrong positions. Keep guessing."
    )
    assert said[2] == MasterMindObservation(output="You Won!", success=True, can_proceed=False)
    exported = driver.metrics.export()
    assert exported["progress"] == [0.25, 0.5, 1.0]
    assert exported["repetition_rate"] == 0.0
    assert exported["success"] is True
    assert [state["value"] for state in exported["states"]] == ["5297", "5198", "5918"]


def test_nothing_right_is_singular() -> None:
    said = started("1111").step(MasterMindAction(value="2222")).output
    assert said == (
        "Wrong! Your guess has 0 correct digit in the correct position"
        " and 0 correct digit in the wrong position. Keep guessing."
    )


def test_first_observation_says_rules_format_and_length_last() -> None:
    first = MasterMindDriver(goal="012345").reset()
    assert "may repeat" in first.output
    assert "correct position" in first.output
    assert "wrong position" in first.output
    assert "\nGuess: <number>\n" in first.output
    assert first.output.endswith("Start guessing the 6 digits number.")
    assert "012345" not in first.output
    assert first.can_proceed
    assert not first.success


def test_what_the_agent_is_told_never_holds_the_number() -> None:
    driver = started("5918")
    assert "5918" not in driver.metrics.goal
    for guess in ("1234", "no idea", "8195"):
        assert "5918" not in driver.step(MasterMindAction(value=guess)).output


def test_a_guess_is_cut_to_the_length_of_the_goal() -> None:
    driver = started("5918")
    assert driver.step(MasterMindAction(value="591")).success is False
    assert driver.metrics.progress() == [0.75]
    won = driver.step(MasterMindAction(value="59187"))
    assert won.success
    assert driver.current_state == MasterMindState("5918")


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("I think so.\nGuess: 0123", "0123"),
        ("guess:0123, surely", "0123"),
        ("GUESS:   0123\nGuess: 9999", "0123"),
    ],
)
def test_free_text_keeps_zeros_at_the_front(text: str, guess: str) -> None:
    driver = started("0123")
    assert driver.step_raw(text).success
    assert driver.metrics.action_values == [guess]


@pytest.mark.parametrize("text", ["", "0123", "my guess is 0123", "Guess: none"])
def test_unreadable_free_text_is_told_and_costs_nothing(text: str) -> None:
    driver = started("0123")
    said = driver.step_raw(text)
    assert "`Guess: <number>`" in said.output
    assert said.can_proceed
    assert driver.metrics.interactions == []
    assert driver.unparsed == [text]


def test_a_parser_of_the_users_own_is_asked_instead() -> None:
    assert started("42").step_raw("forty-two", custom_parser=lambda text: "42").success


@pytest.mark.parametrize("command", ["Guess: 4071", "guess 4071", "4071", " Guess:4071 "])
def test_commands_of_the_evaluator(command: str) -> None:
    driver = started("4071")
    assert driver.accepts(command)
    assert driver.step(MasterMindAction(value=command)).success
    assert driver.metrics.action_values == ["4071"]


@pytest.mark.parametrize("command", ["", "look", "Guess: 40 71", "Guess: 4071 or 4072", "٤٠٧١"])
def test_a_command_that_is_no_guess_changes_nothing(command: str) -> None:
    driver = started("4071")
    driver.step(MasterMindAction(value="4000"))
    before = driver.outcome
    assert not driver.accepts(command)
    assert "`Guess: <number>`" in driver.step(MasterMindAction(value=command)).output
    assert driver.outcome == before
    assert driver.metrics.progress() == [0.5, 0.5]


def test_a_won_game_stays_won() -> None:
    driver = started("7")
    won = driver.step(MasterMindAction(value="7"))
    assert driver.step(MasterMindAction(value="1")) == won
    assert len(driver.metrics.interactions) == 1
    assert not driver.accepts("1")
    assert driver.plan() == []
    assert driver.reset().can_proceed


def test_repetition_compares_guesses_however_they_are_written() -> None:
    driver = started("5918")
    for value in ("1234", "Guess: 1234", "1235"):
        driver.step(MasterMindAction(value=value))
    assert driver.metrics.repetition_rate() == 0.5
    assert driver.metrics.repetition_rate(theta_a=0.7) == 1.0


@pytest.mark.parametrize("goal", ["", "12a4", "１２３４", 5918, None])
def test_a_goal_that_is_no_number_is_refused(goal: object) -> None:
    with pytest.raises(UserError, match="text of digits"):
        MasterMindDriver(goal=goal)  # type: ignore[arg-type]


def test_a_driver_travels_in_the_middle_of_a_game() -> None:
    driver = started("5918")
    driver.step(MasterMindAction(value="5297"))
    copy = pickle.loads(pickle.dumps(driver))
    assert copy.step(MasterMindAction(value="5918")).success
    assert not driver.outcome.done


@given(NUMBERS, NUMBERS)
def test_marks_count_every_digit_once(guess: str, goal: str) -> None:
    placed, misplaced = marks(guess, goal)
    shared = sum(min(guess.count(digit), goal.count(digit)) for digit in "0123456789")
    assert placed == sum(a == b for a, b in zip(guess, goal, strict=False))
    assert placed + misplaced == shared
    assert misplaced >= 0
    assert marks(goal, guess) == (placed, misplaced)


def test_load_data() -> None:
    for digits in range(4, 9):
        numbers = MasterMindUtils.load_data(category=f"{digits} digits")
        assert len(set(numbers)) == len(numbers) == 100
        assert all(len(number) == digits and number.isdigit() for number in numbers)
    assert MasterMindUtils.load_data() == MasterMindUtils.load_data("4 digits", split="test")
    with pytest.raises(UnknownName, match="did you mean '4 digits'"):
        MasterMindUtils.load_data("4 digit")
    with pytest.raises(UnknownName, match="there are: test, dev, train"):
        MasterMindUtils.load_data(split="validation")
