"""The figures of a report, against values worked out by hand, alike in every format."""

import csv
import html
import io
import re

import pytest

from agentquest.errors import Cause
from agentquest.records.episode import Call, EpisodeRecord
from agentquest.reports.csv_table import csv_report
from agentquest.reports.figures import Report, build_report
from agentquest.reports.html import page
from agentquest.reports.markdown import markdown_report
from agentquest.reports.text import text_report
from report_runs import hostile, hostile_manifest, manifest, play, record, step


@pytest.fixture(scope="module")
def talked() -> list[EpisodeRecord]:
    return play("muddled", failing=(1, 5))


def by_hand() -> list[EpisodeRecord]:
    """Two types; one episode lost to the model."""
    return [
        record("a", Cause.WON, 4, progress=1.0),
        record("b", Cause.MAX_STEPS, 10, progress=0.5, repetition_rate=0.2),
        record(
            "c",
            Cause.WON,
            [step(1), step(2, valid=False), step(3, valid=False), step(4)],
            task_type="look_at_obj_in_light",
        ),
        record("d", Cause.MODEL_ERROR, 1, task_type="look_at_obj_in_light"),
    ]


def test_figures_against_values_worked_out_by_hand() -> None:
    report = build_report(by_hand(), manifest())
    cells = report.overall.cells
    assert (cells["episodes"].count, cells["scored"].count) == (4, 3)
    # Wilson, 2 of 3: centre (2/3 + 3.8415/6) / (1 + 3.8415/3), from tables.
    assert cells["success"].text == "66.7% [20.8–93.9] 2/3"
    assert cells["steps"].estimate is not None
    assert cells["steps"].estimate.value == 6.0
    assert cells["steps_of_successes"].text.startswith("4.0 [4.0–4.0] n=2")
    assert cells["progress"].text.startswith("0.83 ")
    assert cells["invalid"].text.startswith("16.7% ")
    assert cells["repetition"].text.startswith("0.07 ")
    assert "reward" not in cells
    types = {row.name: row for row in report.by_type}
    assert types["look_at_obj_in_light"].cells["success"].text.endswith("1/1")
    assert types["pick_and_place_simple"].cells["success"].text.endswith("1/2")


def test_behaviour_is_the_mean_score_and_its_grade() -> None:
    """Won without repeats, loops or open doors is 100, lost is 60: 80 is a B."""
    without_score = record("e", Cause.MODEL_ERROR, 1)
    cell = build_report([*by_hand()[:2], without_score], {}).overall.cells["behaviour"]
    assert cell.text == "80.0 [60.0–100.0] B"


def test_episodes_without_a_score_are_said_loudly() -> None:
    content = manifest(task_ids=["a", "b", "c", "d", "e", "f"])
    report = build_report(by_hand(), content)
    assert report.warnings == (
        "1 of 6 episodes have no score: 1 model_error."
        " They are in no figure; run again to complete.",
        "2 of 6 episodes have not been played yet; run again to complete.",
    )
    assert "!!! 1 of 6 episodes have no score" in text_report(report)


def test_reward_is_shown_when_it_says_more_than_success() -> None:
    records = [record("a", Cause.LOST, reward=0.4), record("b", Cause.WON)]
    assert build_report(records, {}).overall.cells["reward"].text.startswith("0.70 ")


def test_mixed_records_are_told() -> None:
    records = [record("a"), record("b", config_hash="another", max_steps=99)]
    told = " ".join(build_report(records, {}).warnings)
    assert "different configurations" in told
    assert "step limits are mixed: 30, 99" in told


def test_several_trials_give_pass_at_k() -> None:
    ends = {("a", 0): Cause.WON, ("a", 1): Cause.LOST, ("b", 0): Cause.LOST, ("b", 1): Cause.LOST}
    records = [record(task, end, trial=trial) for (task, trial), end in ends.items()]
    trials = dict(build_report(records, {}).trials)
    assert [(name, cell.text.split()[0]) for name, cell in trials.items()] == [
        ("pass@1", "25.0%"),
        ("pass@2", "50.0%"),
        ("pass^2", "0.0%"),
    ]


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([Call(model="m", kind="ok", prompt_tokens=10, completion_tokens=2, cost=0.5)], "0.5000 ("),
        ([Call(model="m", kind="ok", prompt_tokens=10)], "not known"),
        (
            [
                Call(model="m", kind="ok", cost=0.25, prompt_tokens=1),
                Call(model="m", kind="ok", prompt_tokens=1),
            ],
            "at least 0.2500 (1 calls",
        ),
    ],
)
def test_cost_is_never_more_certain_than_the_prices(calls: list[Call], said: str) -> None:
    spent = dict(build_report([record(steps=[step(1, calls=calls)])], {}).spent)
    assert spent["cost"].startswith(said)


def test_no_episode_at_all_is_no_figure() -> None:
    report = build_report([], {})
    assert {cell.text for cell in report.overall.cells.values()} == {"0", "–"}
    for written in (text_report(report), markdown_report(report), csv_report(report)):
        assert "all" in written
    assert "No episode failed" in "".join(page([], {}, iter(())))


def formats(records: list[EpisodeRecord], content: dict[str, object]) -> dict[str, str]:
    report = build_report(records, content)
    whole = "".join(page(records, content, iter(records)))
    return {
        "text": text_report(report),
        "markdown": re.sub(r"\\(.)", r"\1", markdown_report(report)),
        "html": " ".join(html.unescape(re.sub(r"<[^>]*>", " ", whole)).split()),
    }


def every_figure(report: Report) -> list[str]:
    figures = [cell.text for row in report.rows for cell in row.cells.values()]
    figures += [cell.text for _, cell in report.trials] + [value for _, value in report.spent]
    return figures + list(report.warnings)


def test_every_format_shows_every_figure(talked: list[EpisodeRecord]) -> None:
    report = build_report(talked, manifest())
    assert len(every_figure(report)) > 60
    for name, written in formats(talked, manifest()).items():
        for figure in every_figure(report):
            assert " ".join(figure.split()) in written, (name, figure)


def test_csv_holds_the_very_numbers(talked: list[EpisodeRecord]) -> None:
    report = build_report(talked, manifest())
    rows = list(csv.DictReader(io.StringIO(csv_report(report))))
    assert [row["task_type"] for row in rows] == [row.name for row in report.rows]
    for written, row in zip(rows, report.rows, strict=True):
        assert int(written["episodes"]) == row.group.episodes
        assert int(written["successes"]) == row.group.successes
        assert int(written["end_model_error"]) == row.group.ends.get("model_error", 0)
        for key, cell in row.cells.items():
            if cell.estimate is not None:
                figures = (written[key], written[f"{key}_low"], written[f"{key}_high"])
                assert tuple(map(float, figures)) == (
                    cell.estimate.value,
                    cell.estimate.low,
                    cell.estimate.high,
                )
                assert int(written[f"{key}_n"]) == cell.estimate.n
            elif cell.count is None:
                assert written[key] == ""
    assert int(rows[-1]["prompt_tokens"]) == report.summary.spent.prompt_tokens > 0


def test_hostile_names_stay_in_their_cells() -> None:
    report = build_report(hostile(), hostile_manifest())
    assert len(list(csv.reader(io.StringIO(csv_report(report))))) == 1 + len(report.rows)
    assert "\x1b" not in text_report(report) + markdown_report(report) + csv_report(report)
    lines = markdown_report(report).splitlines()
    figures = lines[lines.index("## Figures") + 4 :][: len(report.rows)]
    for line in figures:
        assert len(re.findall(r"(?<!\\)\|", line)) == len(report.columns) + 2


def test_published_scores_stand_in_every_format(talked: list[EpisodeRecord]) -> None:
    published = [{"source": "A paper", "setting": "134 unseen", "score": {"Model X": 71}}]
    content = manifest(protocol="unseen-134", comparable_with=published)
    for written in formats(talked[:2], content).values():
        assert "A paper (134 unseen): Model X 71" in written
        assert "unseen-134" in written
