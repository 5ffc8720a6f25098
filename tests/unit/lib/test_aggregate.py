"""The figures of many runs, against values worked out by hand."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.benchmarks.alfworld import AlfWorldAction, AlfWorldDriver, AlfWorldUtils, extras
from agentquest.errors import UserError
from agentquest.lib.aggregate import Averages, aggregate_metrics, problem_kind


def export(
    progress: list[float], success: bool = False, repetition: float = 0.0, problem: str = ""
) -> dict[str, Any]:
    return {
        "success": success,
        "actions": [{"value": "look"}] * len(progress),
        "progress": progress,
        "repetition_rate": repetition,
        "problem": problem,
    }


PICK = "builtin:valid_seen/pick_and_place_simple-Pen-None-Desk-301/trial_T1"
HEAT = "/data/json_2.1.1/train/pick_heat_then_place_in_recep-Egg-None-Fridge-2/trial_T2"


def test_worked_values() -> None:
    runs = [
        export([0.5, 1.0], success=True, repetition=0.0, problem=PICK),
        export([0.0, 0.25, 0.5, 0.0], repetition=1.0, problem=PICK),
        export([0.0, 0.0, 1.0], success=True, repetition=0.5, problem=HEAT),
        export([], problem=HEAT),
    ]
    found = aggregate_metrics(runs)
    assert found.overall == Averages(
        runs=4,
        successes=2,
        success_rate=0.5,
        mean_steps=9 / 4,
        mean_steps_of_successes=2.5,
        mean_final_progress=0.5,
        mean_repetition_rate=1.5 / 4,
        mean_progress_curve=(0.125, 1.25 / 4, 2.5 / 4, 0.5),
    )
    assert list(found.groups) == ["pick_and_place_simple", "pick_heat_then_place_in_recep"]
    pick = found.groups["pick_and_place_simple"]
    assert (pick.runs, pick.success_rate, pick.mean_final_progress) == (2, 0.5, 0.5)
    assert pick.mean_progress_curve == (0.25, 0.625, 0.75, 0.5)
    heat = found.groups["pick_heat_then_place_in_recep"]
    assert (heat.runs, heat.mean_steps, heat.mean_steps_of_successes) == (2, 1.5, 3.0)
    assert heat.mean_progress_curve == (0.0, 0.0, 0.5)


def test_nothing_gives_no_figures() -> None:
    found = aggregate_metrics([])
    assert found.overall == Averages(0, 0, None, None, None, None, None, ())
    assert found.groups == {}


def test_no_success_gives_no_steps_of_successes() -> None:
    overall = aggregate_metrics([export([0.0])]).overall
    assert overall.success_rate == 0.0
    assert overall.mean_steps_of_successes is None


@given(st.lists(st.lists(st.floats(0, 1), max_size=6), min_size=1, max_size=6))
def test_the_curve_carries_last_values_forward(curves: list[list[float]]) -> None:
    overall = aggregate_metrics([export(curve) for curve in curves]).overall
    longest = max(map(len, curves))
    padded = [curve + (curve or [0.0])[-1:] * (longest - len(curve)) for curve in curves]
    expected = [sum(column) / len(curves) for column in zip(*padded, strict=True)]
    assert list(overall.mean_progress_curve) == pytest.approx(expected)
    if longest:
        assert overall.mean_final_progress == pytest.approx(overall.mean_progress_curve[-1])


def test_groups_of_ones_own() -> None:
    runs = [export([1.0], success=True), export([0.0]), export([0.5])]
    found = aggregate_metrics(runs, group_by=lambda run: "won" if run["success"] else None)
    assert {name: group.runs for name, group in found.groups.items()} == {"won": 1}
    assert found.overall.runs == 3


@pytest.mark.parametrize(("problem", "kind"), [
    (PICK, "pick_and_place_simple"),
    (HEAT, "pick_heat_then_place_in_recep"),
    (HEAT + "/game.tw-pddl", "pick_heat_then_place_in_recep"),
    ("C:\\data\\look_at_obj_in_light-CD-None-DeskLamp-308\\trial", "look_at_obj_in_light"),
    ("", None),
    ("17", None),
    ("webshop:3", None),
])  # fmt: skip
def test_the_kind_in_a_problems_name(problem: str, kind: str | None) -> None:
    assert problem_kind({"problem": problem}) == kind


def test_a_run_without_a_problem_is_in_no_group() -> None:
    run = export([1.0])
    del run["problem"]
    assert aggregate_metrics([run]).groups == {}


@pytest.mark.parametrize(("change", "named"), [
    ({"progress": 0.5}, "'progress'"),
    ({"success": "yes"}, "'success'"),
    ({"actions": None}, "'actions'"),
    ({"repetition_rate": None}, "'repetition_rate'"),
    ({"progress": [0.1, 0.2, 0.3]}, "3 values of progress"),
])  # fmt: skip
def test_an_export_that_is_none_is_named(change: dict[str, Any], named: str) -> None:
    with pytest.raises(UserError, match=rf"runs\[1\].*{named}"):
        aggregate_metrics([export([0.0]), {**export([0.0]), **change}])


def test_something_else_entirely_is_named() -> None:
    with pytest.raises(UserError, match=r"runs\[0\] is a str"):
        aggregate_metrics(["run"])  # type: ignore[list-item]


def test_metrics_objects_and_their_exports_give_the_same() -> None:
    metrics = []
    for category in ("look_at_obj_in_light", "pick_and_place"):
        driver = AlfWorldDriver(AlfWorldUtils.load_data(category, "valid_seen", "builtin")[0])
        driver.reset()
        for command in driver.metrics.milestones:
            driver.step(AlfWorldAction(command))
        metrics.append(driver.metrics)
    found = extras.aggregate_metrics(metrics)
    assert found == aggregate_metrics([each.export() for each in metrics])
    assert set(found.groups) == {"look_at_obj_in_light", "pick_and_place_simple"}
    assert found.overall.success_rate == found.overall.mean_final_progress == 1.0
    assert json.loads(json.dumps(found.export()))["overall"]["successes"] == 2
