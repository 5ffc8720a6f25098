"""Mastermind's tasks, players and examples."""

import hashlib
from collections import Counter

import pytest

from agentquest.benchmarks.mastermind import MasterMindDriver, MasterMindUtils
from agentquest.benchmarks.mastermind.benchmark import MasterMindBenchmark
from agentquest.benchmarks.mastermind.driver import marks
from agentquest.benchmarks.mastermind.explorer import (
    JudgedGuess,
    MasterMindExplorer,
    consistent_number,
)
from agentquest.benchmarks.mastermind.tasks import CATEGORIES, goal_of
from agentquest.errors import UnknownName
from agentquest.lib.dice import Dice
from agentquest.lib.generated import SPLITS


def played(goal: str, explorer: MasterMindExplorer | None = None) -> list[str]:
    """The commands with which the rule-based player finds a number."""
    driver, player = MasterMindDriver(goal), explorer or MasterMindExplorer()
    observation = driver.reset()
    commands: list[str] = []
    while observation.can_proceed and len(commands) < 20:
        commands.append(player.next_action(observation.text))
        assert driver.accepts(commands[-1])
        assert player.thought
        observation = driver.step(driver.action_class(value=commands[-1]))
    assert observation.success
    return commands


def test_the_numbers_are_these_on_every_machine() -> None:
    """Golden: numbers that change are other tasks, and need another name of the generator."""
    numbers = [
        number
        for category in CATEGORIES
        for split in SPLITS
        for number in MasterMindUtils.load_data(category, split)
    ]
    assert numbers[::300] == ["7837", "43485", "493431", "9348225", "03073381"]
    assert hashlib.sha256("\n".join(numbers).encode()).hexdigest() == (
        "8edec0a68ed172ca07a76d4f5fe8af2da2aa27eb39b858c79182d1b7e8855117"
    )


def test_no_number_is_in_two_splits_or_twice_in_one() -> None:
    for category in CATEGORIES:
        numbers = [n for split in SPLITS for n in MasterMindUtils.load_data(category, split)]
        assert Counter(numbers).most_common(1)[0][1] == 1


def test_digits_repeat_and_zeros_lead_somewhere() -> None:
    numbers = MasterMindUtils.load_data("4 digits")
    assert any(number.startswith("0") for number in numbers)
    assert any(len(set(number)) < 4 for number in numbers)


def test_task_names_do_not_give_the_number_away() -> None:
    for task in MasterMindBenchmark().tasks():
        assert goal_of(task) not in task.id
        assert goal_of(task) not in task.problem


def test_types_by_name_alias_and_number() -> None:
    assert MasterMindBenchmark(task_types="5-digits").wanted_types == ("5 digits",)
    assert MasterMindBenchmark(task_types=(1,)).wanted_types == ("4 digits",)
    assert len(MasterMindBenchmark(task_types=["4 digits", "8 digits"]).tasks()) == 200
    with pytest.raises(UnknownName, match="not a task type of mastermind"):
        MasterMindBenchmark(task_types=["9 digits"])


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_explorer_finds_every_number_and_repeats_itself_never(category: str) -> None:
    for goal in MasterMindUtils.load_data(category, "dev")[:12]:
        commands = played(goal)
        assert len(set(commands)) == len(commands) <= 12


def test_the_explorer_plays_numbers_of_unusual_length() -> None:
    for goal in ("7", "00", "123", "314159265", "09876543210"):
        played(goal)


def test_every_guess_of_the_explorer_fits_all_answers_before() -> None:
    for goal in ("0042", "55171"):
        guesses = [command.removeprefix("Guess: ") for command in played(goal)]
        for place, guess in enumerate(guesses):
            for earlier in guesses[:place]:
                assert marks(earlier, guess) == marks(earlier, goal)


def test_the_explorer_goes_on_after_a_text_it_does_not_know() -> None:
    explorer = MasterMindExplorer()
    first = explorer.next_action(MasterMindDriver("5918").reset().text)
    assert explorer.next_action("Could not parse agent output.") == first


def test_the_explorer_begins_anew_with_a_new_game() -> None:
    explorer = MasterMindExplorer()
    played("5918", explorer)
    assert played("7777", explorer) == played("7777")


def test_no_number_fits_contradictory_answers() -> None:
    guesses = [
        JudgedGuess("00000", marks("00000", "00001")),
        JudgedGuess("00000", marks("00000", "11111")),
    ]
    assert consistent_number(5, guesses, Dice("x")) is None


def test_examples_are_won_games_of_the_same_length_and_never_the_task() -> None:
    for split in ("test", "train"):
        benchmark = MasterMindBenchmark(split=split, task_types=("5 digits",))
        for task in benchmark.tasks()[:4]:
            driver = benchmark.driver(task)
            driver.reset()
            examples = benchmark.briefing(driver, task, 3).demonstrations
            assert len(examples) == 3
            for example in examples:
                assert example.goal == driver.metrics.goal
                assert example.turns[-1][2] == "You Won!"
                assert all(goal_of(task) not in action for _, action, _ in example.turns)
    assert benchmark.briefing(driver, task, 0).demonstrations == ()


def test_the_oracle_needs_one_guess() -> None:
    benchmark = MasterMindBenchmark()
    task = benchmark.tasks()[123]
    driver = benchmark.driver(task)
    driver.reset()
    oracle = benchmark.oracle(driver)
    assert oracle is not None
    assert oracle.plan() == driver.metrics.milestones == [f"Guess: {goal_of(task)}"]
    assert driver.details() == {"number": goal_of(task)}
