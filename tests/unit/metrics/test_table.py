"""The table of metrics: what is in it, and what a user may add."""

import json
import sys
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from agentquest.errors import ConfigError, UnknownName
from agentquest.metrics.table import Metric, metrics_table
from agentquest.records.manifest import Manifest
from agentquest.records.outcome import End
from report_runs import manifest, record, step

GOALS = Metric("goals", "words", "words", "words of the goal", lambda r: float(len(r.goal.split())))


def changed(**fields: Any) -> Metric:
    return replace(GOALS, **fields)


def loaded(monkeypatch: pytest.MonkeyPatch, thing: Any) -> tuple[Metric, ...]:
    module = ModuleType("my_metrics")
    module.THING = thing  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_metrics", module)
    return metrics_table(manifest(metrics=["my_metrics:THING"]))


def test_the_built_in_metrics_by_hand() -> None:
    steps = [step(1), step(2, valid=False), step(3), step(4)]
    one = record(end=End.FAILED, steps=steps, reward=0.5, progress=0.25, repetition_rate=0.1)
    values = {metric.key: metric.value(one) for metric in metrics_table(manifest())}
    assert values == {
        "success": 0.0,
        "steps": 4.0,
        "steps_of_successes": 4.0,
        "reward": 0.5,
        "progress": 0.25,
        "repetition": 0.1,
        "invalid": 0.25,
        "behaviour": 45.0,  # three quarters of 60
    }


@pytest.mark.parametrize(("applies", "score"), [(True, 60.0), (False, 50.0)])
def test_behaviour_is_judged_by_what_applies_to_the_benchmark(applies: bool, score: float) -> None:
    table = {metric.key: metric for metric in metrics_table(manifest(cleanup_applies=applies))}
    assert table["behaviour"].value(record(end=End.FAILED)) == score


@pytest.mark.parametrize(("applies", "opens"), [(True, "open"), (False, "")])
def test_a_manifest_without_verbs_has_those_of_its_time(applies: bool, opens: str) -> None:
    written = manifest(cleanup_applies=applies).model_dump(mode="json")
    del written["verbs"]
    old = Manifest.model_validate_json(json.dumps(written))
    assert (old.verbs.open, old.verbs.walk) == (opens, "go to")
    assert Manifest.model_validate_json(old.model_dump_json()) == old


def test_a_metric_of_ones_own_stands_behind_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    table = loaded(monkeypatch, GOALS)
    assert table[-1] == replace(GOALS, path="my_metrics:THING")
    assert table[-1].value(record(goal="put it there")) == 3.0


def test_a_metric_named_twice_is_there_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(monkeypatch, GOALS)
    twice = metrics_table(manifest(metrics=["my_metrics:THING"] * 2))
    assert [metric.key for metric in twice].count("goals") == 1


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (42, "is a int, not an agentquest.metrics.table.Metric"),
        (replace(GOALS, key="success"), "already"),
        (replace(GOALS, key="Two words"), "'Two words' is not of the form"),
        (changed(value=3), "not a function of a record"),
        (changed(estimator="median"), "'rate' or 'mean'"),
    ],
)
def test_what_is_no_metric_is_refused(
    monkeypatch: pytest.MonkeyPatch, thing: Any, said: str
) -> None:
    with pytest.raises(ConfigError, match=r"my_metrics:THING.*") as caught:
        loaded(monkeypatch, thing)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nowhere.at_all:X", "cannot be imported"),
        ("agentquest.metrics.table:NOTHING", "cannot be imported"),
        ("words", "package.module:NAME"),
    ],
)
def test_a_path_that_leads_nowhere_is_named(path: str, said: str) -> None:
    with pytest.raises(UnknownName, match=said):
        metrics_table(manifest(metrics=[path]))


@pytest.mark.parametrize(
    ("unit", "digits", "value", "written", "signed"),
    [
        ("%", 2, 0.125, "12.5%", "+12.5%"),
        ("steps", 1, 12.34, "12.3", "+12.3"),
        ("tokens", 0, 12345.6, "12,346", "+12,346"),
        ("", 2, -0.5, "-0.50", "-0.50"),
    ],
)
def test_values_are_written_by_their_unit(
    unit: str, digits: int, value: float, written: str, signed: str
) -> None:
    metric = replace(GOALS, unit=unit, digits=digits)
    assert (metric.format_value(value), metric.format_value(value, "+")) == (written, signed)
