"""Evaluating on WebShop from the command line: runs, resume, protocols, reports by category."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import warm_python
from agentquest.benchmarks.webshop.tasks import CATEGORIES
from agentquest.config import load_config
from agentquest.errors import ConfigError
from agentquest.running.run import Run


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if name != "WEBSHOP_DATA"}
    return {**kept, "HOME": str(home), "AGENTQUEST_CACHE": str(home / "cache")}


def agentquest(
    environment: dict[str, str], *arguments: str, folder: Path
) -> subprocess.CompletedProcess[str]:
    return warm_python.agentquest(*arguments, env=environment, cwd=folder)


def records_of(folder: Path) -> list[dict[str, Any]]:
    (file,) = folder.glob("runs/*/episodes.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("agent", ["oracle", "scripted", "random", "react"])
def test_an_evaluation_needs_nothing_but_the_benchmark(
    environment: dict[str, str], tmp_path: Path, agent: str
) -> None:
    command = ["eval", "benchmark=webshop", "num_games=20", "max_steps=15", f"agent.name={agent}"]
    done = agentquest(environment, *command, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    report = agentquest(environment, "report", done.stderr.split()[-1], folder=tmp_path)
    for category in CATEGORIES:
        assert category in report.stdout
    records = records_of(tmp_path)
    assert len(records) == 20
    for record in records:
        assert record["benchmark"] == "webshop"
        assert record["split"] == "test"
        assert record["task_type"] == record["details"]["goal"]["category"]
        assert record["success"] == (record["reward"] == 1.0) == (record["end"] == "solved")
        if record["end"] in ("solved", "failed"):
            scored = record["details"]["reward"]
            assert {"r_type", "r_att", "r_price", "nouns"} <= scored.keys()
            assert record["steps"][-1]["action"] == "click[buy now]"
    if agent == "oracle":
        assert all(record["success"] for record in records)
    again = agentquest(environment, *command, folder=tmp_path)
    assert "20 of 20 episodes already played" in again.stderr
    assert records_of(tmp_path) == records


def test_the_page_of_a_run_shows_categories_and_purchases(
    environment: dict[str, str], tmp_path: Path
) -> None:
    run = ["benchmark=webshop", "num_games=5", "agent.name=scripted", "run_name=shopping"]
    assert agentquest(environment, "eval", *run, folder=tmp_path).returncode == 0
    page = tmp_path / "pages"
    shown = agentquest(
        environment,
        *("report", "runs/shopping", "--format", "html", "--output", str(page)),
        folder=tmp_path,
    )
    assert shown.returncode == 0, shown.stderr
    text = "".join(file.read_text("utf-8") for file in page.rglob("*.html"))
    assert all(category in text for category in CATEGORIES)
    assert "click[buy now]" in text


def run_of(*overrides: str) -> Run:
    return Run(load_config(None, ["data_path=builtin", *overrides])[0])


def test_settings_of_the_benchmark_decide_and_are_passed_on() -> None:
    shop = ["benchmark=webshop", "num_games=5"]
    plain, human = run_of(*shop), run_of(*shop, "goals=human")
    assert plain.benchmark.split == human.benchmark.split == "test"
    assert plain.run_id.startswith("webshop-test-")
    assert plain.run_id == run_of(*shop, "split=test").run_id, "what is played, not how said"
    assert plain.run_id == run_of(*shop, "benchmark_settings.split=test").run_id
    assert plain.run_id != human.run_id
    assert all(spec.task.id.startswith("human/test/") for spec in human.specs)
    assert human.manifest().provenance.details["goals"] == "human"
    for wrong in ("benchmark_settings.prices=low", "benchmark_settings.dialect=0.3"):
        with pytest.raises(ConfigError, match=r"unknown key; there are: split, .*goals"):
            run_of(*shop, wrong)
    with pytest.raises(ConfigError, match="dialect: unknown key"):
        run_of(*shop, "dialect=0.3")


def test_no_split_means_the_benchmark_s_own() -> None:
    left_out = run_of("num_games=6")
    given = run_of("num_games=6", "split=valid_unseen")
    assert left_out.run_id == given.run_id
    assert left_out.config_hash == given.config_hash


def test_the_protocol_fixes_goals_and_turns_and_compares_on_real_data_only() -> None:
    run = run_of("protocol=webshop-500")
    assert len(run.specs) == 500
    assert run.config.max_steps == 15
    assert {spec.task.id.split("/")[0] for spec in run.specs} == {"human"}
    assert run.manifest().comparable_with == []
    with pytest.raises(ConfigError, match=r"benchmark_settings\.goals: protocol"):
        load_config(None, ["protocol=webshop-500", "benchmark_settings.goals=synthetic"])


def test_playing_and_listing(environment: dict[str, str], tmp_path: Path) -> None:
    listed = agentquest(
        environment, *("tasks", "webshop", "--type", "fashion", "--split", "dev"), folder=tmp_path
    )
    assert listed.stdout.splitlines()[0].startswith("synthetic/dev/")
    lines = "hint\n1\nhint all\n1\nundo\ncommands\ntask\nquit\n"
    played = warm_python.agentquest(
        *("play", "webshop", "--task", "1", "--no-record"),
        input=lines,
        env=environment,
        cwd=tmp_path,
    )
    assert played.returncode == 0, played.stderr
    assert "It can be done in" in played.stdout
    assert "Page 1 (Total results: 50)" in played.stdout
    assert "Undone: click[" in played.stdout
    assert "[SEP]" not in played.stdout
