"""The figures of a report, against values worked out by hand, alike in every format."""

import csv
import html
import io
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentquest.metrics.behaviour import behaviour_of, grade
from agentquest.metrics.measured import collect_measured
from agentquest.metrics.report import Report, build_report, figure_cell
from agentquest.metrics.rows import measure
from agentquest.metrics.statistics import Estimate
from agentquest.metrics.table import Metric, metrics_table
from agentquest.records.episode import Call, EpisodeRecord
from agentquest.records.manifest import Manifest, PublishedScore, Verbs
from agentquest.records.messages import Usage
from agentquest.records.outcome import AgentFaults, End
from agentquest.reports.render.csv import csv_report
from agentquest.reports.render.text import markdown_report, text_report
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.addresses import SITE
from agentquest.viewer.layout import render
from agentquest.viewer.run_page import run_page
from report_runs import (
    WORDS,
    hostile,
    hostile_manifest,
    manifest,
    play,
    record,
    rows_of,
    saved,
    step,
)


def report_of(records: list[EpisodeRecord], content: Manifest | None = None) -> Report:
    content = content or manifest()
    table = metrics_table(content)
    return build_report(content, rows_of(records, table), table)


def html_of(records: list[EpisodeRecord], content: Manifest) -> str:
    """The page of a run directory with these records, as the runner leaves it."""
    table = metrics_table(content)
    with tempfile.TemporaryDirectory() as folder:
        run = saved(Path(folder) / "run", records, content)
        run.write_measured(collect_measured(rows_of(records, table), table))
        return render(run_page(SITE, StoredRun(run.path), {}))


@pytest.fixture(scope="module")
def talked() -> list[EpisodeRecord]:
    return play("muddled", failing=(1, 5))


def by_hand() -> list[EpisodeRecord]:
    """Two types; one episode lost to the model."""
    return [
        record("a", End.SOLVED, 4, progress=1.0),
        record("b", End.STEP_LIMIT, 10, progress=0.5, repetition_rate=0.2),
        record(
            "c",
            End.SOLVED,
            [step(1), step(2, valid=False), step(3, valid=False), step(4)],
            task_type="look_at_obj_in_light",
        ),
        record("d", End.INFRASTRUCTURE_FAULT, 1, task_type="look_at_obj_in_light"),
    ]


def table_named(report: Report, title: str) -> list[tuple[str, ...]]:
    return [row for table in report.tables if table.title.startswith(title) for row in table.rows]


def test_figures_against_values_worked_out_by_hand() -> None:
    report = report_of(by_hand())
    cells, group = report.overall.cells, report.overall.group
    assert (group.episodes, group.scored, group.successes) == (4, 3, 2)
    # 3 tasks leave almost everything open: 4.5 values, 2.75 of them 1, t(3.5) above 2.7764.
    assert cells["success"].text == "66.7% [0.0–100.0] 2/3"
    assert cells["steps"].estimate is not None
    assert cells["steps"].estimate.value == 6.0
    assert cells["steps_of_successes"].text.startswith("4.0 [0.0–")
    assert cells["progress"].text.startswith("0.83 ")
    assert cells["invalid"].text.startswith("16.7% ")
    assert cells["repetition"].text.startswith("0.07 ")
    assert "reward" not in [metric.key for metric in report.shown]
    types = {row.name: row for row in report.rows}
    assert types["look_at_obj_in_light"].cells["success"].text.endswith("1/1")
    assert types["pick_and_place_simple"].cells["success"].text.endswith("1/2")


def test_behaviour_is_the_mean_score_and_its_grade() -> None:
    """Won without repeats, loops or open doors is 100, lost is 60: 80 is a B."""
    without_score = record("e", End.INFRASTRUCTURE_FAULT, 1)
    cell = report_of([*by_hand()[:2], without_score]).overall.cells["behaviour"]
    assert cell.text == "80.0 [0.0–100.0] B"


def test_where_nothing_is_opened_order_is_no_part_of_behaviour() -> None:
    """Lost without repeats or loops: 25 + 25 of 100."""
    content = manifest(cleanup_applies=False)
    assert report_of([by_hand()[1]], content).overall.cells["behaviour"].text.startswith("50.0 ")


def test_episodes_without_a_score_are_said_loudly() -> None:
    report = report_of(by_hand(), manifest(task_ids=["a", "b", "c", "d", "e", "f"]))
    assert report.warnings == (
        "Episodes without a score: 1 of 6 (1 × model server or environment failed)."
        " No figure includes them.",
        "Episodes not played yet: 2 of 6.",
        "To complete the run, run the same command again.",
    )
    assert "!!! Episodes without a score: 1 of 6" in text_report(report)


def test_damage_to_the_file_comes_first() -> None:
    table = metrics_table(manifest())
    rows = rows_of(by_hand(), table)
    report = build_report(manifest(), rows, table, "episodes.jsonl: 2 damaged lines")
    assert report.warnings[0] == "episodes.jsonl: 2 damaged lines"
    assert report.warnings[1].startswith("Episodes without a score: 1 of 4")


def test_a_crash_that_loses_the_game_is_a_score() -> None:
    crashed = record("b", End.AGENT_FAULT, 0, agent_faults=AgentFaults.LOSE)
    report = report_of([record("a"), crashed], manifest(agent_faults=AgentFaults.LOSE))
    assert report.overall.cells["success"].text.endswith("1/2")
    assert report.warnings == ()
    assert ("agent_fault", "1 (agent crashed or did not answer)") in table_named(report, "Ends")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"agent_faults": AgentFaults.LOSE}, "lose (an agent that crashes"),
        ({"agent_faults": AgentFaults.OWE}, "owe (a game in which the agent crashed"),
        ({"protocol": "unseen-134"}, "unseen-134"),
        ({"informed": True}, "is shown the oracle's plan"),
    ],
)
def test_what_a_number_cannot_be_read_without_is_in_every_format(
    changes: dict[str, Any], said: str
) -> None:
    for name, written in formats(by_hand(), manifest(**changes)).items():
        assert said in " ".join(written.split()), name
    row = next(csv.DictReader(io.StringIO(csv_report(report_of(by_hand(), manifest(**changes))))))
    assert (row["protocol"], row["informed"]) == (
        changes.get("protocol", ""),
        str(int(changes.get("informed", False))),
    )
    assert row["agent_faults"] == changes.get("agent_faults", AgentFaults.OWE).value


def test_reward_is_shown_when_it_says_more_than_success() -> None:
    report = report_of([record("a", End.FAILED, reward=0.4), record("b", End.SOLVED)])
    assert report.overall.cells["reward"].text.startswith("0.70 ")
    assert "reward" in [metric.key for metric in report.shown]


def test_mixed_records_are_told() -> None:
    records = [record("a"), record("b", config_hash="another", max_steps=99)]
    told = " ".join(report_of(records).warnings)
    assert "different configurations" in told
    assert "step limits are mixed: 30, 99" in told


def test_several_trials_give_pass_at_k() -> None:
    ends = {
        ("a", 0): End.SOLVED,
        ("a", 1): End.FAILED,
        ("b", 0): End.FAILED,
        ("b", 1): End.FAILED,
    }
    records = [record(task, end, trial=trial) for (task, trial), end in ends.items()]
    trials = dict(report_of(records).trials)
    assert [(name, cell.text.split()[0]) for name, cell in trials.items()] == [
        ("pass@1", "25.0%"),
        ("pass@2", "50.0%"),
        ("pass^2", "0.0%"),
    ]


def test_several_trials_widen_every_interval() -> None:
    """Ten tasks, five of them always solved: ten opinions, however often each is heard."""
    once = [record(f"t{i}", End.SOLVED if i < 5 else End.FAILED, 2 + i) for i in range(10)]
    four_times = [
        record(f"t{i}", End.SOLVED if i < 5 else End.FAILED, 2 + i, trial=trial)
        for trial in range(4)
        for i in range(10)
    ]
    first, again = report_of(once).overall.cells, report_of(four_times).overall.cells
    for key in ("success", "steps", "progress", "behaviour"):
        one, many = first[key].estimate, again[key].estimate
        assert one is not None
        assert many is not None
        assert many.n == 4 * one.n
        assert many.high - many.low == pytest.approx(one.high - one.low, rel=0.15), key


def call(kind: str = "complete", **changes: Any) -> Call:
    return Call(model="m", kind=kind, **changes)


COUNTED = Usage(prompt_tokens=10, completion_tokens=2)


@pytest.mark.parametrize(
    ("calls", "cost", "tokens"),
    [
        ([call(usage=COUNTED, cost=0.5)], "0.5000 (", "10"),
        ([call(usage=COUNTED)], "unknown", "10"),
        ([call()], "unknown", "unknown"),
        ([call(usage=COUNTED, cost=0.25), call()], "at least 0.2500 (1 call", "at least 10"),
    ],
)
def test_cost_and_tokens_are_never_more_certain_than_what_was_told(
    calls: list[Call], cost: str, tokens: str
) -> None:
    report = report_of([record(steps=[step(1, calls=calls)])])
    spent = {row[0]: row[1] for row in table_named(report, "Tokens and cost")}
    assert spent["cost"].startswith(cost)
    assert spent["prompt tokens"] == tokens
    rows = list(csv.DictReader(io.StringIO(csv_report(report))))
    assert rows[-1]["prompt_tokens"] == ("" if tokens == "unknown" else "10")
    if tokens == "unknown":
        assert "≥" not in html_of([record(steps=[step(1, calls=calls)])], manifest())


def test_replies_that_were_cut_off_are_said_loudly() -> None:
    cut = [step(i, action=None, how="truncated", calls=[call("truncated")]) for i in range(18)]
    report = report_of([record("a", End.STEP_LIMIT, cut)])
    assert report.warnings == (
        "18 of 18 replies (100.0%) could not be read as an action: 18 truncated."
        " The figures say as much about that as about the agent. Replies were cut off at"
        " llm.max_tokens: raise it.",
    )
    assert table_named(report, "Replies")[-1] == ("all", "18", "18 100.0%")


@pytest.mark.parametrize(
    ("changes", "read_as"),
    [
        ({"action": None, "how": "missing"}, "missing"),
        ({"action": None, "how": "refused", "calls": [call("refused")]}, "refused"),
        # An agent that made something of half a reply does not make it a whole one.
        ({"how": "exact", "calls": [call("truncated")]}, "truncated"),
    ],
)
def test_more_than_one_in_twenty_without_an_answer_is_a_warning(
    changes: dict[str, Any], read_as: str
) -> None:
    good = [step(i) for i in range(1, 20)]
    one_in_twenty = report_of([record("a", End.STEP_LIMIT, [*good, step(20, **changes)])])
    assert one_in_twenty.warnings == ()
    more = report_of([record("a", End.STEP_LIMIT, [*good[1:], step(20, **changes)])])
    assert f"1 {read_as}" in more.warnings[0]
    table = next(table for table in more.tables if table.title.startswith("Replies"))
    hints = dict(zip(table.headings, table.hints, strict=True))
    assert hints[read_as] == "could not be read as an action"
    assert hints["exact"] == ""


def test_replies_are_counted_by_task_type() -> None:
    records = [
        record("a", End.FAILED, [step(1), step(2, how="undecorated")]),
        record("b", End.FAILED, [step(1)], task_type="look_at_obj_in_light"),
    ]
    assert table_named(report_of(records), "Replies") == [
        ("look_at_obj_in_light", "1", "1 100.0%", "0"),
        ("pick_and_place_simple", "2", "1 50.0%", "1 50.0%"),
        ("all", "3", "2 66.7%", "1 33.3%"),
    ]


def test_giving_up_is_no_unreadable_reply() -> None:
    steps = [step(1, action=None, how="gave_up", valid=False)]
    assert report_of([record("a", End.GAVE_UP, steps)]).warnings == ()


def test_giving_up_is_no_invalid_step() -> None:
    steps = [step(1, action="look"), step(2, action=None, how="gave_up", valid=False)]
    one = record("a", End.GAVE_UP, steps)
    assert (one.invalid_actions, len(one.steps)) == (0, 2)
    found = behaviour_of(one, Verbs(open="open", close="close"))
    assert (found.summary.executed_steps, found.summary.total_steps) == (1, 1)
    assert (found.action_history, found.overall.overall_score) == (("look",), 60.0)
    assert behaviour_of(record("a", End.GAVE_UP, steps[1:]), Verbs()).overall.overall_score == 0


def test_agents_that_only_give_commands_have_no_replies_to_report() -> None:
    assert table_named(report_of([record(steps=[step(1, how="verbatim")])]), "Replies") == []


def test_no_episode_at_all_is_no_figure() -> None:
    report = report_of([])
    assert {cell.text for cell in report.overall.cells.values()} == {"–"}
    for written in (text_report(report), markdown_report(report), csv_report(report)):
        assert "all" in written
    assert "No episode has ended yet" in html_of([], manifest())


def formats(records: list[EpisodeRecord], content: Manifest) -> dict[str, str]:
    report = report_of(records, content)
    return {
        "text": text_report(report, 400),
        "markdown": re.sub(r"\\(.)", r"\1", markdown_report(report)),
        "html": " ".join(html.unescape(re.sub(r"<[^>]*>", " ", html_of(records, content))).split()),
    }


def every_figure(report: Report) -> list[str]:
    cells = [cell for table in report.tables for row in table.rows for cell in row]
    return [*cells, *report.warnings, *report.notes, *(value for _, value in report.facts)]


def test_every_format_shows_every_figure(talked: list[EpisodeRecord]) -> None:
    report = report_of(talked)
    assert len(every_figure(report)) > 100
    for name, written in formats(talked, manifest()).items():
        for figure in every_figure(report):
            assert " ".join(figure.split()) in written, (name, figure)


@pytest.mark.parametrize("width", [80, 50])
@pytest.mark.parametrize("trials", [1, 3])
def test_text_fits_its_width_and_loses_no_figure(
    talked: list[EpisodeRecord], width: int, trials: int
) -> None:
    records = [
        one.model_copy(update={"trial": trial, "key": f"{one.task_id}#{trial}"})
        for trial in range(trials)
        for one in talked
    ]
    content = manifest(
        run_id="a-run-with-a-name-that-is-as-long-as-names-made-from-a-configuration-0123456789",
        comparable_with=[PublishedScore(source="A paper", setting="all", scores={"x" * 60: 1.0})],
    )
    report = report_of(records, content)
    written = text_report(report, width)
    assert max(map(len, written.splitlines())) <= width
    together = " ".join(written.split())
    for row in report.rows:
        for metric in report.shown:
            assert row.cells[metric.key].text in together


def test_csv_holds_the_very_numbers(talked: list[EpisodeRecord]) -> None:
    report = report_of(talked)
    rows = list(csv.DictReader(io.StringIO(csv_report(report))))
    assert [row["task_type"] for row in rows] == [row.name for row in report.rows]
    for written, row in zip(rows, report.rows, strict=True):
        assert int(written["episodes"]) == row.group.episodes
        assert int(written["successes"]) == row.group.successes
        assert int(written["unread_replies"]) == sum(row.group.unread.values())
        failed = row.group.ends.get(End.INFRASTRUCTURE_FAULT, 0)
        assert int(written["end_infrastructure_fault"]) == failed
        for key, cell in row.cells.items():
            if cell.estimate is not None:
                figures = (written[key], written[f"{key}_low"], written[f"{key}_high"])
                assert tuple(map(float, figures)) == (
                    cell.estimate.value,
                    cell.estimate.low,
                    cell.estimate.high,
                )
                assert int(written[f"{key}_n"]) == cell.estimate.n
            else:
                assert written[key] == ""
    assert int(rows[-1]["prompt_tokens"]) == report.summary.spent.prompt_tokens > 0


def test_hostile_names_stay_in_their_cells() -> None:
    report = report_of(hostile(), hostile_manifest())
    assert len(list(csv.reader(io.StringIO(csv_report(report))))) == 1 + len(report.rows)
    everything = text_report(report) + markdown_report(report) + csv_report(report)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\xad\u202e\u2028\U000e0041]", everything)
    lines = markdown_report(report).splitlines()
    figures = lines[lines.index("## Figures") + 4 :][: len(report.rows)]
    for line in figures:
        assert len(re.findall(r"(?<!\\)\|", line)) == len(report.tables[0].headings) + 1


def test_no_cell_of_a_csv_is_a_formula() -> None:
    content = manifest(run_id="=cmd|' /C calc'!A0", agent="@SUM(A1)", model="-2+3")
    records = [record("a", task_type="+1", progress=-0.5)]
    rows = list(csv.DictReader(io.StringIO(csv_report(report_of(records, content)))))
    assert (rows[0]["run"], rows[0]["agent"]) == ("'=cmd|' /C calc'!A0", "'@SUM(A1)")
    assert (rows[0]["model"], rows[0]["task_type"]) == ("'-2+3", "'+1")
    assert float(rows[0]["progress"]) == -0.5


def test_published_scores_stand_in_every_format(talked: list[EpisodeRecord]) -> None:
    score = PublishedScore(source="A paper", setting="134 unseen", scores={"Model X": 71})
    content = manifest(protocol="unseen-134", comparable_with=[score])
    for written in formats(talked[:2], content).values():
        assert "A paper (134 unseen; not verified in the source): Model X 71" in written
        assert "unseen-134" in written


SHOUTED = Metric(
    "shouted", "shouted", "%", "share", lambda one: float("!" in one.goal), estimator="rate"
)


def test_a_metric_of_ones_own_is_in_every_format() -> None:
    content = manifest(metrics=["report_runs:WORDS", "test_report:SHOUTED"])
    records = [record("a", goal="put it there!"), record("b", goal="look")]
    for name, written in formats(records, content).items():
        assert "words" in written, name
        assert "8.50 [-48.68–65.68]" in written, name
        assert "50.0% [0.0–100.0] 1/2" in written, name
    rows = list(csv.DictReader(io.StringIO(csv_report(report_of(records, content)))))
    assert float(rows[-1]["words"]) == 8.5
    assert float(rows[-1]["shouted_high"]) == 1.0
    assert '<td class="number">13.00</td>' in html_of(records, content)


def broken(one: EpisodeRecord) -> float:
    return 1 / (len(one.steps) - 2)


BROKEN = replace(WORDS, key="broken", value=broken)


def test_a_metric_that_fails_leaves_a_hole_and_is_said_loudly() -> None:
    records = [record("a", steps=2), record("b", steps=4)]
    report = report_of(records, manifest(metrics=["test_report:BROKEN"]))
    assert report.overall.cells["broken"].text == "0.50 [0.50–0.50] n=1"
    assert report.warnings == (
        "The metric broken could not be computed for 1 episode and leaves out what failed;"
        " the first is a#0: ZeroDivisionError: division by zero",
    )


@pytest.mark.parametrize(("tasks", "marked"), [(9, True), (10, False)])
def test_rows_of_few_tasks_are_marked_however_many_trials_they_had(
    tasks: int, marked: bool
) -> None:
    records = [record(f"t{i}", trial=trial) for i in range(tasks) for trial in range(2)]
    report = report_of(records)
    assert table_named(report, "Figures")[-1][2] == f"{2 * tasks}{' few' if marked else ''}"
    assert any(note.startswith("few: fewer than 10 tasks") for note in report.notes) == marked


def test_a_metric_without_bounds_is_said_to_have_none() -> None:
    content = manifest(metrics=["report_runs:WORDS", "test_report:SHOUTED"])
    (note,) = (one for one in report_of([record("a")], content).notes if "bounds are" in one)
    assert note.startswith("No bounds are declared for words:")


def test_a_value_outside_of_its_bounds_is_no_value() -> None:
    table = (replace(SHOUTED, path="test_report:SHOUTED", estimator="mean", bounds=(2, 3)),)
    assert measure(record("a"), table)[1]["shouted"].endswith("is not within its bounds, 2 to 3")


@pytest.mark.parametrize(
    ("value", "text"), [(60.0, "60.0"), (59.96, "59.96"), (59.9996, "59.9996"), (59.94, "59.9")]
)
def test_a_grade_never_contradicts_the_figure_beside_it(value: float, text: str) -> None:
    metric = next(one for one in metrics_table(manifest()) if one.key == "behaviour")
    cell = figure_cell(metric, Estimate(value, 0, 100, 50, 50), 50)
    assert cell.text.split()[0] == text
    assert cell.text.split()[-1] == grade(float(text))
