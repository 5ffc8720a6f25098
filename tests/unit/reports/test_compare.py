"""Comparisons against values worked out by hand."""

import json
import math
from typing import Any

import pytest

from agentquest.errors import UserError
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

NOBODY = {"both": 0, "only_first": 0, "only_second": 0, "neither": 0}


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
    assert found.counts == {"both": 3, "only_first": 1, "only_second": 4, "neither": 2}
    success = found.success
    assert success.difference.value == pytest.approx(0.3)
    assert (success.baseline, success.other) == pytest.approx((0.4, 0.7))
    # Half a task more at -1 and at +1: 11 values with the sum 3 and 6 squares. The quantile of
    # Student's t with 10 degrees of freedom is 2.2281; |t| is 1.2566, between 1.093 and 1.372.
    error = math.sqrt((6 - 11 * (3 / 11) ** 2) / 10 / 11)
    assert success.difference.low == pytest.approx(3 / 11 - 2.2281 * error, abs=1e-4)
    assert success.difference.high == pytest.approx(3 / 11 + 2.2281 * error, abs=1e-4)
    assert 0.2 < success.p_value < 0.3
    # Every task took three steps more, but ten tasks do not rule out one that saves fifty.
    steps = found.differences["steps"]
    assert steps.difference.value == 3.0
    limit = manifest().max_steps
    error = math.sqrt((90 + limit**2 - 11 * (30 / 11) ** 2) / 10 / 11)
    assert steps.difference.high == pytest.approx(30 / 11 + 2.2281 * error, abs=1e-3)
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
    assert found.left_out["only_in_baseline"] == ["only-a"]
    assert found.left_out["only_in_other"] == ["only-b"]
    assert found.left_out["unscored_in_baseline"] == ["t01"]
    assert found.left_out["unscored_in_other"] == ["t02"]
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
    assert "each by the mean of its trials" in " ".join(text_comparison([found]).split())


def test_all_trials_are_used_where_first_trials_say_nothing() -> None:
    """The first trials agree; the others favour the second run in eight tasks of eight."""
    first = run("a", several("wwwwllll", "llllllll", "llllllll"))
    second = run("b", several("wwwwllll", "wwwwwwww", "wwwwwwww"))
    found = compare_runs([first, second])[0]
    assert found.success.p_value < 0.01
    assert found.success.difference.value == pytest.approx(2 / 3)


def test_trials_that_all_agree_leave_the_doubt_of_their_tasks() -> None:
    first, second = run("a", several("wwll", "wwll")), run("b", several("wwww", "wwww"))
    found, once = compare_runs([first, second])[0], compare("wwll", "wwww")
    assert found.counts == once.counts == {**NOBODY, "both": 2, "only_second": 2}
    assert found.success.difference == once.success.difference


def test_a_task_with_one_scored_trial_counts_by_it() -> None:
    first = [*outcomes("-"), *outcomes("w", trial=1)]
    found = compare_runs([run("a", first), run("b", outcomes("w"))])[0]
    assert found.counts == {**NOBODY, "both": 1}


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


def test_one_run_is_no_comparison() -> None:
    with pytest.raises(UserError, match="at least two"):
        compare_runs([run("a", outcomes("w"))])


def test_all_are_compared_with_the_first() -> None:
    runs = [run("b", outcomes("ww")), run("a", outcomes("wl")), run("c", outcomes("ll"))]
    found = compare_runs(runs)
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
        "difference": {
            "value": 0.0,
            "low": difference.low,
            "high": difference.high,
            "n": 4,
            "tasks": 4,
        },
        "p_value": 1.0,
        "corrected_p_value": 1.0,
    }
    assert one["worse"] == ["t01"]
    assert one["left_out"]["only_in_other"] == []
    assert one["counts"] == {"both": 1, "only_first": 1, "only_second": 1, "neither": 1}


def test_several_comparisons_are_corrected_together() -> None:
    """Success among the comparisons, the other metrics among themselves; the interval stays."""
    lost, won = outcomes("l" * 20), outcomes("w" * 6 + "l" * 14)
    runs = [run("a", lost), run("b", won), run("c", outcomes("w" * 5 + "l" * 15))]
    alone, together = compare_runs(runs[:2])[0].success, compare_runs(runs)
    assert alone.corrected_p_value == alone.p_value
    first, second = (one.success for one in together)
    assert first.p_value == alone.p_value < second.p_value
    assert first.corrected_p_value == pytest.approx(2 * first.p_value)
    assert second.corrected_p_value == pytest.approx(max(second.p_value, 2 * first.p_value))
    assert first.difference == alone.difference
    others = [one.differences[key] for one in together for key in ("steps", "progress")]
    assert all(one.corrected_p_value >= one.p_value for one in others)
    assert "after Holm's correction" in answer(together[0])


def test_success_is_compared_in_each_task_type_and_corrected_for_their_number() -> None:

    def of_types(wins: str) -> list[EpisodeRecord]:
        kinds = ("easy", "hard")
        return [
            one.model_copy(update={"task_type": kinds[place >= 10]})
            for place, one in enumerate(outcomes(wins))
        ]

    found = compare_runs([run("a", of_types("l" * 20)), run("b", of_types("w" * 7 + "l" * 13))])[0]
    easy, hard = found.by_type["easy"], found.by_type["hard"]
    assert (easy.difference.value, easy.difference.tasks) == (pytest.approx(0.7), 10)
    assert (hard.difference.value, hard.p_value) == (0, 1)
    assert easy.corrected_p_value == pytest.approx(2 * easy.p_value)
    written = text_comparison([found])
    assert "task type" in written
    assert json_comparison([found])["comparisons"][0]["by_type"]["easy"]["other"] == 0.7
    assert not compare("wl", "ll").by_type, "a single type is what the answer is about"


def test_a_difference_that_only_the_correction_hides_is_said_to_be_so() -> None:
    """Six of fifteen tasks won instead of none: p is 0.04 alone, more among three comparisons."""
    lost, won = outcomes("l" * 11), outcomes("w" * 5 + "l" * 6)
    runs = [run(name, won) for name in "bcd"]
    found = compare_runs([run("a", lost), *runs])
    assert found[0].success.p_value < 0.05 <= found[0].success.corrected_p_value
    assert found[0].success.difference.low > 0
    said = answer(found[0])
    assert said.startswith("b solves more than a, but not if corrected for the number of compar")


@pytest.mark.parametrize("tasks", [1, 2, 3, 4, 5, 6, 11])
def test_too_few_tasks_for_any_difference_are_said_to_be_so(tasks: int) -> None:
    found = compare("l" * tasks, "w" * tasks)
    impossible = answer(found).startswith(
        f"With {tasks} task{'s' if tasks > 1 else ''} no difference can reach p < 0.05:"
    )
    assert impossible == (tasks < 5)
    assert (found.success.p_value < 0.05) == (not impossible)


def test_verdict_interval_and_p_value_never_contradict_each_other() -> None:
    for tasks in (4, 15, 24):
        for won in range(tasks + 1):
            found = compare("l" * tasks, "w" * won + "l" * (tasks - won))
            difference = found.success.difference
            clear = answer(found).startswith("b solves more")
            assert clear == (found.success.p_value < 0.05) == (difference.low > 0)


def test_a_p_value_below_the_resolution_is_less_than_it() -> None:
    found = compare("l" * 60, "w" * 60)
    assert answer(found).endswith("p < 0.0001.")
    assert "< 0.0001" in text_comparison([found], 200)


def test_the_last_line_says_what_so_many_games_can_show() -> None:
    """Two of twenty games differ each way: the standard error is √(5/20/21) of the difference,
    2.086 and 0.860 Student's quantiles for 20 degrees of freedom."""
    found = compare("ww" + "l" * 18, "llww" + "l" * 16)
    points = 100 * (2.086 + 0.860) * math.sqrt(5 / 20 / 21)
    last = text_comparison([found], list_tasks=True).strip().splitlines()[-1]
    assert last == f"20 games can show {points:.1f} points (with 80% power)."
    content = json_comparison([found])["comparisons"][0]
    assert content["detectable_difference"] == pytest.approx(points / 100, abs=1e-4)
