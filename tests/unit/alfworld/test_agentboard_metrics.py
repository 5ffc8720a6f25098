"""AgentBoard's progress rate and grounding accuracy, by hand and in a run."""

import re
from pathlib import Path

import pytest

import agentquest
from agentquest.adapters.agentboard import find_subgoals, measure_grounding, measure_subgoals
from report_runs import record, step

SEEN = "On the desk 1, you see a bowl 1, and a desklamp 1."


@pytest.mark.parametrize(
    ("goal", "patterns"),
    [
        # Labels of the published data set, rows 0, 1, 2, 4, 8 and 9.
        (
            "look at bowl under the desklamp.",
            (
                r"^(?=.* you see)(?=.*a bowl \d+)",
                r"You pick up the bowl \d+",
                r"^(?=.* you see)(?=.*a desklamp)",
            ),
        ),
        (
            "put a cool tomato in microwave.",
            (
                r"^(?=.* you see)(?=.*a tomato \d+)",
                r"You pick up the tomato \d+",
                r"You cool the tomato \d+ using the",
            ),
        ),
        (
            "put a clean soapbar in countertop.",
            (
                r"^(?=.* you see)(?=.*a soapbar \d+)",
                r"You pick up the soapbar \d+",
                r"You clean the soapbar \d+",
            ),
        ),
        (
            "put a hot mug in coffeemachine.",
            (
                r"^(?=.* you see)(?=.*a mug \d+)",
                r"You pick up the mug \d+",
                r"You heat the mug \d+ using the",
            ),
        ),
        (
            "put some saltshaker on drawer.",
            (r"^(?=.* you see)(?=.*a saltshaker \d+)", r"You pick up the saltshaker \d+"),
        ),
        ("solve the puzzle", None),
    ],
)
def test_subgoals_are_those_of_the_published_labels(
    goal: str, patterns: tuple[str, ...] | None
) -> None:
    assert find_subgoals(goal) == patterns


@pytest.mark.parametrize(
    "said",
    [
        "You put the soapbar 1 in/on the garbagecan 1.",
        "You move the soapbar 1 to the garbagecan 1.",
    ],
)
def test_the_first_of_two_put_down_is_a_subgoal_in_both_dialects(said: str) -> None:
    patterns = find_subgoals("put two soapbar in garbagecan.")
    assert patterns is not None
    assert re.search(patterns[2], said)


def test_the_share_counts_winning_as_one_more() -> None:
    goal = "look at bowl under the desklamp."
    lost = record("a", success=False, goal=goal, steps=[step(1, observation="Nothing happens.")])
    assert measure_subgoals(lost) == 0.0
    seen = record("a", success=False, goal=goal, steps=[step(1, observation=SEEN)])
    assert measure_subgoals(seen) == 0.5  # bowl and lamp, of three and the win
    assert measure_subgoals(record("a", success=True, goal=goal)) == 1.0
    assert measure_subgoals(record("a", success=False, goal="solve the puzzle")) is None


def test_grounding_looks_at_what_was_possible_before() -> None:
    steps = [
        step(1, action="go to desk 1", admissible=["take bowl 1 from desk 1"]),
        step(2, action="go to desk 1", admissible=[]),
        step(3, action="look", admissible=[]),
        step(4, action=None, admissible=[]),
    ]
    played = record("a", steps=steps, first_admissible=["go to desk 1"])
    assert measure_grounding(played) == 0.5
    assert measure_grounding(record("a", steps=[])) is None


def test_every_report_can_show_them(tmp_path: Path) -> None:
    path = "agentquest.adapters.agentboard"
    result = agentquest.evaluate(
        agent="oracle",
        data_path="builtin",
        num_games=6,
        output_dir=str(tmp_path),
        metrics=[f"{path}:SUBGOALS", f"{path}:GROUNDED"],
    )
    figures = result.report.summary.overall.figures
    assert [figures[key].value for key in ("subgoals", "grounded")] == [1.0, 1.0]
