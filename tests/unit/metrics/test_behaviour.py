"""Every worked value of the definitions, their empty inputs, and their laws."""

import json
from dataclasses import asdict
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.metrics.behaviour import (
    Cleanup,
    Cycles,
    Exploration,
    RepeatedSteps,
    assess_behaviour,
    assess_cleanup,
    behaviour_of,
    find_cycles,
    find_repeated_steps,
    grade,
    measure_exploration,
)
from agentquest.records.manifest import Verbs
from agentquest.records.outcome import End
from report_runs import record, step

VERBS = Verbs(open="open", close="close", walk="go to")
commands = st.lists(st.sampled_from(["a", "b", "c"]), max_size=24)
household = st.lists(
    st.sampled_from(
        [
            *("open fridge 1", "close fridge 1", "open drawer 1", "close drawer 1"),
            *("go to desk 1", "go to bed 1", "look", "invalid:open fridge 1"),
        ]
    ),
    max_size=24,
)

# actions, repetition rate, cycle rate, listed (start, length, copies), wasted steps, score if lost
WORKED = [
    ("a", 0, 0, [], 0, 60.0),
    ("aa", 0.5, 0, [], 0, 50.0),
    ("aaa", 0.6667, 0, [], 0, 46.67),
    ("aaaa", 0.75, 1.0, [(0, 2, 2)], 2, 25.0),
    ("aaaaa", 0.8, 0.8, [(0, 2, 2)], 2, 28.0),
    ("a" * 7, 0.857, 0.857, [(0, 2, 3)], 4, 25.71),
    ("a" * 50, 0.98, 1.0, [(0, 2, 25)], 48, 20.4),
    ("abab", 0, 1.0, [(0, 2, 2)], 2, 40.0),
    ("ababa", 0, 0.8, [(0, 2, 2)], 2, 44.0),
    ("ab" * 25, 0, 1.0, [(0, 2, 25)], 48, 40.0),
    ("xababab", 0, 0.857, [(1, 2, 3)], 4, 42.86),
    ("abcabcab", 0, 0.75, [(0, 3, 2)], 3, 45.0),
    ("aabaab", 0.333, 1.0, [(0, 3, 2)], 3, 33.33),
    ("aaaabaaaab", 0.6, 1.0, [(0, 2, 2), (5, 2, 2)], 4, 28.0),
    ("ababcdcdabab", 0, 1.0, [(0, 2, 2), (4, 2, 2), (8, 2, 2)], 6, 40.0),
    ("cabababcab", 0, 0.6, [(1, 2, 3)], 4, 48.0),
    ("abcdef" * 8, 0, 0, [], 0, 60.0),
    # All ten steps are in a cycle; only the last two are in no first copy.
    ("aababaabab", 0.2, 1.0, [(1, 2, 2), (6, 2, 2), (3, 3, 2), (0, 5, 2)], 2, 36.0),
]


@pytest.mark.parametrize(("actions", "repetition", "cycle", "listed", "wasted", "score"), WORKED)
def test_worked_values(
    actions: str,
    repetition: float,
    cycle: float,
    listed: list[tuple[int, int, int]],
    wasted: int,
    score: float,
) -> None:
    found = assess_behaviour(actions, won=False, verbs=VERBS)
    assert found.repeated_steps.repetition_rate == pytest.approx(repetition, abs=5e-4)
    assert found.cycles.cycle_rate == pytest.approx(cycle, abs=5e-4)
    patterns = found.cycles.cycle_patterns
    assert [(c.start_index, c.length, c.repetitions) for c in patterns] == listed
    assert found.cycles.cycles_detected == len(listed)
    assert found.cycles.wasted_steps == wasted
    assert found.overall.overall_score == score
    won = assess_behaviour(actions, won=True, verbs=VERBS)
    assert won.overall.overall_score == pytest.approx(score + 40)


CLEANUP_WORKED = [
    (
        ["open fridge", "close fridge", "open drawer 1", "open drawer 2", "close drawer 1"],
        (3, 2, ("drawer 2",), 0.6667),
        (0, 53.33),
    ),
    (["open x", "close x", "open x"], (2, 1, ("x",), 0.5), (0, 50.0)),
    (["open x", "open x", "close x"], (2, 1, ("x",), 0.5), (0.333, 43.33)),
    (["close x"], (0, 0, (), 1.0), (0, 60.0)),
]


@pytest.mark.parametrize(("actions", "cleaned", "scored"), CLEANUP_WORKED)
def test_worked_values_of_cleanup(
    actions: list[str],
    cleaned: tuple[int, int, tuple[str, ...], float],
    scored: tuple[float, float],
) -> None:
    found = assess_behaviour(actions, won=False, verbs=VERBS)
    opens, closes, left, rate = cleaned
    assert found.cleanup.total_opens == opens
    assert found.cleanup.correct_close_count == closes
    assert found.cleanup.remaining_open_items == left
    assert found.cleanup.remaining_open_count == len(left)
    assert found.cleanup.cleanup_rate == pytest.approx(rate, abs=5e-5)
    assert found.cleanup.applicable is (opens > 0)
    assert found.repeated_steps.repetition_rate == pytest.approx(scored[0], abs=5e-4)
    assert found.cycles == Cycles(0, (), 0.0, 0, 0)
    assert found.overall.overall_score == scored[1]


def test_nothing_done_is_defined_everywhere_and_scores_nothing() -> None:
    assert find_repeated_steps([]) == RepeatedSteps(0, (), 0.0, 0)
    assert assess_cleanup([], VERBS) == Cleanup(0, 0, 0, (), 1.0, (), (), (), applicable=False)
    assert find_cycles([]) == Cycles(0, (), 0.0, 0, 0)
    assert measure_exploration([], VERBS) == Exploration(0, 0, 1.0, 0)
    for won in (False, True):
        found = assess_behaviour([], won=won, verbs=VERBS)
        assert (found.overall.overall_score, found.overall.grade) == (0.0, "F")
        assert set(asdict(found.overall.breakdown).values()) == {0.0}
        assert found.summary.task_completed is won
        assert found.action_history == ()


def test_a_game_in_which_nothing_was_executed_scores_nothing() -> None:
    """A fresh word every turn repeats nothing, loops nowhere and leaves nothing open."""
    words = [step(i, action=f"word {i}", valid=False) for i in range(1, 31)]
    found = behaviour_of(record(end=End.STEP_LIMIT, steps=words), VERBS)
    assert (found.overall.overall_score, found.overall.grade) == (0.0, "F")
    assert set(asdict(found.overall.breakdown).values()) == {0.0}
    assert (found.summary.total_steps, found.summary.executed_steps) == (30, 0)
    silent = [step(i, action=None, reply=f"hm {i}", valid=False) for i in range(1, 31)]
    assert (
        behaviour_of(record(end=End.STEP_LIMIT, steps=silent), VERBS).overall.overall_score == 0.0
    )


@pytest.mark.parametrize(
    ("executed", "won", "score"),
    [(4, False, 60.0), (3, False, 45.0), (1, False, 15.0), (0, False, 0.0), (2, True, 70.0)],
)
def test_conduct_counts_by_the_share_of_steps_that_were_carried_out(
    executed: int, won: bool, score: float
) -> None:
    found = assess_behaviour(["a", "b", "c", "d"], won, VERBS, executed)
    assert found.overall.overall_score == score


def test_doing_something_is_never_worth_less_than_saying_nonsense() -> None:
    nonsense = [f"invalid:{i}" for i in range(10)]
    scores = [
        assess_behaviour([*"abcdefghij"[:good], *nonsense[good:]], False, VERBS, good).overall
        for good in range(11)
    ]
    unrounded = [score.unrounded_score for score in scores]
    assert unrounded == sorted(unrounded)
    assert (unrounded[0], unrounded[-1]) == (0.0, 60.0)


@pytest.mark.parametrize(
    ("actions", "won", "score", "parts"),
    [
        ("abcd", True, 100.0, (50.0, 0.0, 25.0, 25.0)),
        ("abcd", False, 50.0, (0.0, 0.0, 25.0, 25.0)),
        ("aa", False, 37.5, (0.0, 0.0, 12.5, 25.0)),
        ("abab", True, 75.0, (50.0, 0.0, 25.0, 0.0)),
    ],
)
def test_without_order_the_other_parts_make_up_the_hundred(
    actions: str, won: bool, score: float, parts: tuple[float, ...]
) -> None:
    found = assess_behaviour(actions, won, Verbs()).overall
    assert (found.overall_score, found.max_possible_score) == (score, 100.0)
    assert tuple(asdict(found.breakdown).values()) == parts


def test_a_record_is_judged_by_what_it_attempted() -> None:
    steps = [
        step(1, action="open fridge 1"),
        step(2, action="open box 1", valid=False),
        step(3, action="close fridge 1"),
        step(4, action=None, reply="Hm.", valid=False),
    ]
    found = behaviour_of(record(steps=steps), VERBS)
    assert found.cleanup.total_opens == found.cleanup.correct_close_count == 1
    assert found.overall.overall_score == 70.0  # 40 for winning, half of 60
    assert found.action_history[3] == "invalid:hm."


def test_runs_are_listed_with_their_length() -> None:
    found = find_repeated_steps(["look", "look", "go to bed 1", "LOOK", " look ", "look"])
    assert found == RepeatedSteps(3, (("look", 2), ("look", 3)), 0.5, 3)


def test_cleanup_names_what_was_opened_closed_and_forgotten() -> None:
    found = assess_cleanup(
        ["Open  Fridge 1", "open box 1", "open fridge 1", "close fridge 1", "close safe 1", "open"],
        VERBS,
    )
    assert found.items_opened == ("fridge 1", "box 1", "fridge 1")
    assert found.items_closed == ("fridge 1",)
    assert found.remaining_open_items == ("box 1", "fridge 1")
    assert found.unclosed_items == ("box 1", "fridge 1")
    twice = assess_cleanup(["open b", "open b", "open a"], VERBS)
    assert twice.remaining_open_items == ("b", "b", "a")
    assert twice.unclosed_items == ("a", "b")


def test_an_invalid_answer_opens_nothing_but_can_be_repeated() -> None:
    actions = ["invalid:open fridge 1"] * 4
    assert assess_cleanup(actions, VERBS).applicable is False
    assert find_repeated_steps(actions).repeated_count == 3
    assert find_cycles(actions).cycle_rate == 1.0


def test_exploration_counts_places() -> None:
    found = measure_exploration(
        ["go to desk 1", "look", "Go to Desk 1", "go  to bed 1", "go to", "gorge to bed 2"],
        VERBS,
    )
    assert found == Exploration(2, 3, 2 / 3, 1)


@pytest.mark.parametrize(
    ("score", "letter"),
    [
        (100, "A"),
        (90, "A"),
        (89.999, "B"),
        (80, "B"),
        (70, "C"),
        (60, "D"),
        (59.996, "F"),
        (0, "F"),
    ],
)
def test_grades(score: float, letter: str) -> None:
    assert grade(score) == letter


def test_a_game_exactly_on_a_limit_gets_the_grade_and_one_below_does_not() -> None:
    # 48 steps, 20 of them repetitions and 4 in a cycle: 100 - 20 * 24/48 is exactly 90,
    # where the sum of the rounded rates comes out just below.
    pairs = [f"p{i}" for i in range(20) for _ in range(2)]
    limit = assess_behaviour([*"xyxy", *pairs, *"stuv"], won=True, verbs=VERBS)
    assert (limit.repeated_steps.repeated_count, limit.cycles.cycle_steps) == (20, 4)
    assert 40 + 20 * 1.0 + 20 * (1 - 20 / 48) + 20 * (1 - 4 / 48) < 90
    assert (limit.overall.unrounded_score, limit.overall.grade) == (90.0, "A")
    # 40 + 20 + 20 * (1 - 2001/4001) + 20 rounds to 90.0 and is less: it is written with the
    # decimals that show it, as 90.0 would contradict its grade.
    below = assess_behaviour([str(i // 2) for i in range(4000)] + ["1999"], won=True, verbs=VERBS)
    assert below.repeated_steps.repeated_count == 2001
    assert below.overall.overall_score == 89.998
    assert below.overall.unrounded_score < 90
    assert below.overall.grade == "B"


def test_the_result_has_the_keys_of_the_game_file() -> None:
    found = json.loads(json.dumps(asdict(assess_behaviour("xababab", won=True, verbs=VERBS))))
    assert set(found["summary"]) == {
        *("task_completed", "total_steps", "executed_steps", "overall_score", "grade")
    }
    assert found["cycles"]["cycle_patterns"] == [
        {"pattern": ["a", "b"], "length": 2, "repetitions": 3, "start_index": 1}
    ]
    assert set(found["repeated_steps"]) == {
        *("repeated_count", "repeated_sequences", "repetition_rate", "max_repeat_length")
    }
    assert set(found["cleanup"]) == {
        *("total_opens", "correct_close_count", "remaining_open_count", "remaining_open_items"),
        *("cleanup_rate", "items_opened", "items_closed", "unclosed_items", "applicable"),
    }
    assert {"cycles_detected", "cycle_rate", "wasted_steps"} <= set(found["cycles"])
    assert set(found["exploration"]) == {
        *("unique_locations_visited", "total_navigation_actions"),
        *("exploration_efficiency", "revisit_count"),
    }
    assert found["overall"]["max_possible_score"] == 100.0
    assert found["overall"]["breakdown"] == {
        "completion_score": 40.0,
        "cleanup_score": 20.0,
        "repetition_score": 20.0,
        "cycle_score": 2.86,
    }
    assert found["action_history"] == list("xababab")


@given(commands)
def test_repetitions_are_the_steps_equal_to_the_one_before(actions: list[str]) -> None:
    found = find_repeated_steps(actions)
    assert found.repeated_count == sum(a == b for a, b in pairwise(actions))
    assert 0 <= found.repetition_rate < 1
    assert found.max_repeat_length == max((n for _, n in found.repeated_sequences), default=0)


@given(commands)
def test_cycles_are_what_they_say_and_cannot_be_extended(actions: list[str]) -> None:
    found = find_cycles(actions)
    starts = [c.start_index for c in found.cycle_patterns]
    assert len(starts) == len(set(starts))
    for cycle in found.cycle_patterns:
        assert 2 <= cycle.length <= 5
        assert cycle.repetitions >= 2
        end = cycle.steps.stop
        assert actions[cycle.start_index : end] == list(cycle.pattern) * cycle.repetitions
        assert actions[end : end + cycle.length] != list(cycle.pattern)
    assert 0 <= found.wasted_steps <= found.cycle_steps <= len(actions)
    assert (found.cycle_steps == 0) is (not found.cycle_patterns)


@given(commands)
def test_a_game_without_an_immediate_copy_of_two_to_five_steps_has_no_cycle(
    actions: list[str],
) -> None:
    copies = any(
        actions[i : i + n] == actions[i + n : i + 2 * n]
        for n in range(2, 6)
        for i in range(len(actions) - 2 * n + 1)
    )
    assert bool(find_cycles(actions).cycles_detected) is copies


@given(household)
def test_every_open_is_either_closed_or_remaining(actions: list[str]) -> None:
    found = assess_cleanup(actions, VERBS)
    assert found.correct_close_count + found.remaining_open_count == found.total_opens
    assert sorted(found.items_closed + found.remaining_open_items) == sorted(found.items_opened)
    assert set(found.unclosed_items) == set(found.remaining_open_items)


@given(household, st.booleans())
def test_the_score_is_the_weighted_sum_and_ignores_case(actions: list[str], won: bool) -> None:
    found = assess_behaviour(actions, won, VERBS)
    assert found == assess_behaviour([f" {a.upper()}\n" for a in actions], won, VERBS)
    expected = 0.0
    if actions:
        expected = (
            40 * won
            + 20 * found.cleanup.cleanup_rate
            + 20 * (1 - found.repeated_steps.repetition_rate)
            + 20 * (1 - found.cycles.cycle_rate)
        )
    assert found.overall.unrounded_score == pytest.approx(expected, abs=1e-9)
    assert 0 <= found.overall.unrounded_score <= 100
    assert found.overall.overall_score == pytest.approx(expected, abs=0.00501)
    assert found.summary.grade == found.overall.grade


def test_grades_take_exact_fractions() -> None:
    assert grade(Fraction(90)) == "A"
    assert grade(Fraction(90) - Fraction(1, 10**30)) == "B"
