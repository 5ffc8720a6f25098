"""Comparisons against values worked out by hand."""

import json
import math
from typing import Any

import pytest

from agentquest.errors import Cause, UserError
from agentquest.records.episode import EpisodeRecord
from agentquest.reports.compare import ComparedRun, Comparison, compare_runs
from agentquest.reports.compare_render import (
    json_comparison,
    markdown_comparison,
    text_comparison,
)
from report_runs import manifest, play, record


def run(label: str, records: list[EpisodeRecord], **changes: Any) -> ComparedRun:
    return ComparedRun(label, records, manifest(**changes))


def outcomes(wins: str, steps: int = 2, **changes: Any) -> list[EpisodeRecord]:
    """Tasks t0, t1, … won (w), lost (l) or without a score (-)."""
    ends = {"w": Cause.WON, "l": Cause.MAX_STEPS, "-": Cause.MODEL_ERROR}
    return [record(f"t{i}", ends[sign], steps, **changes) for i, sign in enumerate(wins)]


def compare(first: str, second: str) -> Comparison:
    return compare_runs([run("a", outcomes(first)), run("b", outcomes(second, steps=5))])[0]


def test_one_comparison_by_hand() -> None:
    """10 tasks: both 3, only baseline 1, only other 4, neither 2."""
    found = compare("wwwwllllll", "wwwlwwwwll")
    assert (found.counts.both, found.counts.only_first) == (3, 1)
    assert (found.counts.only_second, found.counts.neither) == (4, 2)
    assert found.success.value == pytest.approx(0.3)
    assert found.baseline_success == pytest.approx(0.4)
    assert found.other_success == pytest.approx(0.7)
    # Exact McNemar: 2 * (C(5,0) + C(5,1)) / 2^5.
    assert found.p_value == pytest.approx(12 / 32)
    # Newcombe's method 10: Wilson 4/10 is 0.1682..0.6873, 7/10 is 0.3968..0.8922, and
    # phi is (3*2 - 1*4 - 10/2) cut at 0, so the parts are joined without correlation.
    low = 0.3 - math.hypot(0.7 - 0.39678, 0.68733 - 0.4)
    high = 0.3 + math.hypot(0.89221 - 0.7, 0.4 - 0.16818)
    assert found.success.low == pytest.approx(low, abs=1e-4)
    assert found.success.high == pytest.approx(high, abs=1e-4)
    assert found.steps.value == 3.0
    assert found.progress.value == pytest.approx(0.3)
    assert found.reward.value == pytest.approx(0.3)
    assert found.won_to_lost == ("t3",)
    assert found.lost_to_won == ("t4", "t5", "t6", "t7")
    assert found.warnings == ()


def test_a_run_against_itself_does_not_differ() -> None:
    records = play("random", max_steps=5)
    found = compare_runs([run("a", records), run("b", records)])[0]
    assert found.tasks == 6
    assert (found.success.value, found.p_value) == (0.0, 1.0)
    assert found.won_to_lost == found.lost_to_won == found.warnings == ()


def test_really_played_runs_agree_with_a_count_over_their_records() -> None:
    first, second = play("random", each=2), play("oracle", each=2)
    found = compare_runs([run("random", first), run("oracle", second)])[0]
    won = {record.task_id for record in first if record.success}
    assert found.other_success == 1.0
    assert set(found.lost_to_won) == {record.task_id for record in first} - won
    assert found.success.value == pytest.approx(1 - len(won) / len(first))


def test_what_cannot_be_paired_is_named_and_left_out() -> None:
    first = [*outcomes("w-lw"), record("only-a")]
    second = [*outcomes("ww-l"), record("only-b")]
    found = compare_runs([run("a", first), run("b", second)])[0]
    assert found.tasks == 2
    assert found.left_out.only_in_baseline == ("only-a",)
    assert found.left_out.only_in_other == ("only-b",)
    assert found.left_out.unscored_in_baseline == ("t1",)
    assert found.left_out.unscored_in_other == ("t2",)
    assert found.unscored_episodes == (1, 1)
    for written in (text_comparison([found]), markdown_comparison([found])):
        for name in ("only-a", "only-b", "t1", "t2"):
            assert name in written
        assert "left out: 1 in the baseline, 1 here" in written


def test_several_trials_count_by_their_mean_and_test_by_their_first() -> None:
    first = [*outcomes("wl"), *outcomes("ll", trial=1), *outcomes("ll", trial=2)]
    second = [*outcomes("lw"), *outcomes("ww", trial=1), *outcomes("lw", trial=2)]
    found = compare_runs([run("a", first), run("b", second)])[0]
    assert found.several_trials
    assert found.baseline_success == pytest.approx((1 / 3 + 0) / 2)
    assert found.other_success == pytest.approx((1 / 3 + 1) / 2)
    assert found.success.value == pytest.approx(0.5)
    assert (found.won_to_lost, found.lost_to_won) == (("t0",), ("t1",))
    assert found.p_value == 1.0
    assert "by the first scored trial" in text_comparison([found])


def test_first_trial_is_the_first_that_has_a_score() -> None:
    first = [*outcomes("-"), *outcomes("w", trial=1)]
    found = compare_runs([run("a", first), run("b", outcomes("w"))])[0]
    assert found.counts.both == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"split": "valid_seen"}, "split differs: valid_unseen against valid_seen"),
        ({"dialect": "0.3"}, "dialect differs: 0.4 against 0.3"),
        ({"max_steps": 50}, "max_steps differs: 30 against 50"),
        ({"data_hash": "other"}, "the data of 2 tasks differs"),
    ],
)
def test_differences_of_the_setting_are_told_loudly(changes: dict[str, Any], said: str) -> None:
    found = compare_runs([run("a", outcomes("wl")), run("b", outcomes("wl", **changes))])[0]
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith(said)
    assert f"!!! {said}" in text_comparison([found])
    assert "**Warning:**" in markdown_comparison([found])


def test_a_different_protocol_is_told() -> None:
    runs = [run("a", outcomes("wl")), run("b", outcomes("wl"), protocol="react-134")]
    assert compare_runs(runs)[0].warnings == ("protocol differs: none against react-134",)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (outcomes("w", benchmark="webshop"), "different benchmarks"),
        ([], "b has no finished episode"),
        ([record("elsewhere")], "no scored task in common"),
        (outcomes("--"), "no scored task in common"),
    ],
)
def test_what_cannot_be_compared_is_refused(second: list[EpisodeRecord], said: str) -> None:
    with pytest.raises(UserError, match=said):
        compare_runs([run("a", outcomes("wl")), run("b", second)])


@pytest.mark.parametrize("baseline", [0, 3, -1])
def test_a_baseline_that_is_not_there_is_refused(baseline: int) -> None:
    with pytest.raises(UserError, match="between 1 and 2"):
        compare_runs([run("a", outcomes("w")), run("b", outcomes("w"))], baseline)


def test_one_run_is_no_comparison() -> None:
    with pytest.raises(UserError, match="at least two"):
        compare_runs([run("a", outcomes("w"))])


def test_the_baseline_can_be_chosen_and_turns_the_sign() -> None:
    runs = [run("a", outcomes("wl")), run("b", outcomes("ww")), run("c", outcomes("ll"))]
    found = compare_runs(runs, baseline=2)
    assert [(one.other, one.baseline) for one in found] == [("a", "b"), ("c", "b")]
    assert [one.success.value for one in found] == [-0.5, -1.0]
    assert "2 p-values are not corrected" in text_comparison(found)


def test_json_is_plain_and_whole() -> None:
    found = compare("wwll", "wlwl")
    content = json.loads(json.dumps(json_comparison([found]), allow_nan=False))
    one = content["comparisons"][0]
    assert one["success"] == {
        "value": 0.0,
        "low": found.success.low,
        "high": found.success.high,
        "n": 4,
    }
    assert one["won_to_lost"] == ["t1"]
    assert one["left_out"]["only_in_other"] == []
