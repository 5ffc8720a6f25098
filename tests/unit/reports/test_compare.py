"""Comparisons against values worked out by hand."""

import json
import math
from typing import Any

import pytest

from agentquest.errors import UserError
from agentquest.metrics.paired import PairedCounts
from agentquest.metrics.table import metrics_table
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import AgentFaults, End
from agentquest.reports.compare import Comparison, PooledRun, compare_runs
from agentquest.reports.render.comparison import (
    answer,
    json_comparison,
    markdown_comparison,
    text_comparison,
)
from report_runs import HARM, manifest, play, record, rows_of


def run(label: str, records: list[EpisodeRecord], **changes: Any) -> PooledRun:
    content = manifest(**changes)
    table = metrics_table(content)
    return PooledRun(label, content, rows_of(records, table), table)


def outcomes(wins: str, steps: int = 2, **changes: Any) -> list[EpisodeRecord]:
    """Tasks t00, t01, … won (w), lost (l) or without a score (-)."""
    ends = {"w": End.SOLVED, "l": End.STEP_LIMIT, "-": End.INFRASTRUCTURE_FAULT}
    return [record(f"t{i:02d}", ends[sign], steps, **changes) for i, sign in enumerate(wins)]


def compare(first: str, second: str) -> Comparison:
    return compare_runs([run("a", outcomes(first)), run("b", outcomes(second, steps=5))])[0]


def several(*trials: str) -> list[EpisodeRecord]:
    return [one for trial, wins in enumerate(trials) for one in outcomes(wins, trial=trial)]


def test_one_comparison_by_hand() -> None:
    """10 tasks: both 3, only baseline 1, only other 4, neither 2."""
    found = compare("wwwwllllll", "wwwlwwwwll")
    assert found.counts == PairedCounts(3, 1, 4, 2)
    success = found.success
    assert success.difference.value == pytest.approx(0.3)
    assert (success.baseline, success.other) == pytest.approx((0.4, 0.7))
    # Exact McNemar: 2 * (C(5,0) + C(5,1)) / 2^5.
    assert success.p_value == pytest.approx(12 / 32)
    # Newcombe's method 10: Wilson 4/10 is 0.1682..0.6873, 7/10 is 0.3968..0.8922, and
    # phi is (3*2 - 1*4 - 10/2) cut at 0, so the parts are joined without correlation.
    low = 0.3 - math.hypot(0.7 - 0.39678, 0.68733 - 0.4)
    high = 0.3 + math.hypot(0.89221 - 0.7, 0.4 - 0.16818)
    assert success.difference.low == pytest.approx(low, abs=1e-4)
    assert success.difference.high == pytest.approx(high, abs=1e-4)
    assert found.differences["steps"].difference.value == 3.0
    # Every task took three steps more: of 2^10 signs two are as far from 0.
    assert found.differences["steps"].p_value == pytest.approx(2 / 1024)
    assert found.differences["progress"].difference.value == pytest.approx(0.3)
    assert found.differences["steps_of_successes"].difference.n == 3
    assert found.worse == ("t03",)
    assert found.better == ("t04", "t05", "t06", "t07")
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("wwwwllllll", "wwwlwwwwll", "No clear difference between b and a: 70.0% against 40.0%"),
        ("llllllllll", "wwwwwwllll", "b solves more than a: 60.0% against 0.0% of 10 tasks, +60.0"),
        ("wwwwwwllll", "llllllllll", "b solves less than a: 0.0% against 60.0% of 10 tasks, -60.0"),
    ],
)
def test_the_answer_comes_first(first: str, second: str, said: str) -> None:
    found = compare(first, second)
    assert answer(found).startswith(said)
    assert text_comparison([found], 200).startswith(said)
    assert markdown_comparison([found]).startswith(f"**{said[:30]}")


def test_a_run_against_itself_does_not_differ() -> None:
    records = play("random", max_steps=5)
    found = compare_runs([run("a", records), run("b", records)])[0]
    assert found.tasks == 6
    for difference in found.differences.values():
        assert (difference.difference.value, difference.p_value) == (0.0, 1.0)
    assert found.worse == found.better == found.warnings == ()


def test_really_played_runs_agree_with_a_count_over_their_records() -> None:
    first, second = play("random", each=2), play("oracle", each=2)
    found = compare_runs([run("random", first), run("oracle", second)])[0]
    won = {record.task_id for record in first if record.success}
    assert found.success.other == 1.0
    assert set(found.better) == {record.task_id for record in first} - won
    assert found.success.difference.value == pytest.approx(1 - len(won) / len(first))


def test_what_cannot_be_paired_is_counted_and_named_on_request() -> None:
    first = [*outcomes("w-lw"), record("only-a")]
    second = [*outcomes("ww-l"), record("only-b")]
    found = compare_runs([run("a", first), run("b", second)])[0]
    assert found.tasks == 2
    assert found.left_out.only_in_baseline == ("only-a",)
    assert found.left_out.only_in_other == ("only-b",)
    assert found.left_out.unscored_in_baseline == ("t01",)
    assert found.left_out.unscored_in_other == ("t02",)
    assert found.unscored_episodes == (1, 1)
    for short, long in (
        (text_comparison([found]), text_comparison([found], list_tasks=True)),
        (markdown_comparison([found]), markdown_comparison([found], list_tasks=True)),
    ):
        for name in ("only-a", "only-b", "t01", "t02", "t03"):
            assert name in long
            assert name not in short
        assert "no score in the other: 1 task" in " ".join(short.split())
        assert "1 in the baseline, 1 in the other" in " ".join(short.split())
        assert "Use --list to see the tasks" in short
        assert "Use --list to see the tasks" not in long


def test_several_trials_count_by_their_mean_everywhere() -> None:
    found = compare_runs(
        [run("a", several("wl", "ll", "ll")), run("b", several("lw", "ww", "lw"))]
    )[0]
    assert found.several_trials
    assert found.counts is None
    assert found.success.baseline == pytest.approx((1 / 3 + 0) / 2)
    assert found.success.other == pytest.approx((1 / 3 + 1) / 2)
    assert found.success.difference.value == pytest.approx(0.5)
    assert (found.worse, found.better) == ((), ("t01",))
    # One task differs: either sign is as far from 0.
    assert found.success.p_value == 1.0
    assert "permutation test over the tasks' means" in " ".join(text_comparison([found]).split())


def test_all_trials_are_used_where_first_trials_say_nothing() -> None:
    """The first trials agree; the others favour the second run in eight tasks of eight."""
    first = run("a", several("wwwwllll", "llllllll", "llllllll"))
    second = run("b", several("wwwwllll", "wwwwwwww", "wwwwwwww"))
    found = compare_runs([first, second])[0]
    assert found.success.p_value == pytest.approx(2 / 2**8)
    assert found.success.difference.value == pytest.approx(2 / 3)


def test_trials_that_all_agree_leave_the_doubt_of_their_tasks() -> None:
    first, second = run("a", several("wwll", "wwll")), run("b", several("wwww", "wwww"))
    found, once = compare_runs([first, second])[0], compare("wwll", "wwww")
    assert found.counts == once.counts == PairedCounts(2, 0, 2, 0)
    assert found.success.difference == once.success.difference


def test_a_task_with_one_scored_trial_counts_by_it() -> None:
    first = [*outcomes("-"), *outcomes("w", trial=1)]
    found = compare_runs([run("a", first), run("b", outcomes("w"))])[0]
    assert found.counts == PairedCounts(1, 0, 0, 0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"split": "valid_seen"}, "split differs: valid_unseen against valid_seen"),
        ({"facts": {"dialect": "0.3"}}, "dialect differs: 0.4 against 0.3"),
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


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"protocol": "seen-140"}, "protocol differs: none against seen-140"),
        ({"agent_faults": AgentFaults.LOSE}, "agent_faults differs: owe against lose"),
        ({"informed": True}, "informed differs: no against yes"),
    ],
)
def test_a_run_under_other_rules_is_told(changes: dict[str, Any], said: str) -> None:
    runs = [run("a", outcomes("wl")), run("b", outcomes("wl"), **changes)]
    assert compare_runs(runs)[0].warnings == (said,)


@pytest.mark.parametrize(
    ("second", "changes", "said"),
    [
        (outcomes("w"), {"benchmark": "webshop"}, "different benchmarks"),
        ([], {}, "b has no finished episode"),
        ([record("elsewhere")], {}, "no scored task in common"),
        (outcomes("--"), {}, "no scored task in common"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    second: list[EpisodeRecord], changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        compare_runs([run("a", outcomes("wl")), run("b", second, **changes)])


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
    assert [one.success.difference.value for one in found] == [-0.5, -1.0]
    assert "2 comparisons" in text_comparison(found)


@pytest.mark.parametrize("width", [80, 50])
def test_text_fits_its_width(width: int) -> None:
    first = run("alfworld-valid_unseen-react-some-model-0123abcd", outcomes("wwwwllllll"))
    second = run(HARM, outcomes("wwwlwwwwll"), protocol="x" * 90)
    written = text_comparison(compare_runs([first, second]), width)
    assert max(map(len, written.splitlines())) <= width
    assert "\x1b" not in written


def test_a_metric_of_ones_own_is_compared_where_both_runs_have_it() -> None:
    both = {"metrics": ["report_runs:WORDS"]}
    first = run("a", outcomes("wl", goal="ten chars."), **both)
    second = run("b", outcomes("wl", goal="four"), **both)
    found = compare_runs([first, second])[0]
    assert found.differences["words"].difference.value == -6
    assert "words" in text_comparison([found])
    assert json_comparison([found])["comparisons"][0]["differences"]["words"]["baseline"] == 10
    assert "words" not in compare_runs([first, run("b", outcomes("wl"))])[0].differences


def test_json_is_plain_and_whole() -> None:
    found = compare("wwll", "wlwl")
    content = json.loads(json.dumps(json_comparison([found]), allow_nan=False))
    one = content["comparisons"][0]
    difference = found.success.difference
    assert one["differences"]["success"] == {
        "metric": "success",
        "baseline": 0.5,
        "other": 0.5,
        "difference": {"value": 0.0, "low": difference.low, "high": difference.high, "n": 4},
        "p_value": 1.0,
    }
    assert one["worse"] == ["t01"]
    assert one["left_out"]["only_in_other"] == []
    assert one["counts"] == {"both": 1, "only_first": 1, "only_second": 1, "neither": 1}
