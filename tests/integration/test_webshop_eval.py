"""Evaluating on WebShop from the command line: runs, resume, protocols, reports by category."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentquest.benchmarks.webshop.tasks import CATEGORIES
from agentquest.config import RunConfig, load_config
from agentquest.errors import ConfigError
from agentquest.running.evaluation import Evaluation


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if name != "WEBSHOP_DATA"}
    return {**kept, "HOME": str(home), "AGENTQUEST_CACHE": str(home / "cache")}


def agentquest(
    environment: dict[str, str], *arguments: str, folder: Path
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agentquest", *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


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
    for category in CATEGORIES:
        assert f"\n  {category}" in done.stdout
    records = records_of(tmp_path)
    assert len(records) == 20
    for record in records:
        assert record["benchmark"] == "webshop"
        assert record["split"] == "test"
        assert record["task_type"] == record["details"]["goal"]["category"]
        assert record["success"] == (record["reward"] == 1.0) == (record["end"] == "won")
        if record["end"] in ("won", "lost"):
            scored = record["details"]["reward"]
            assert {"r_type", "r_att", "r_price", "nouns"} <= scored.keys()
            assert record["steps"][-1]["action"] == "click[buy now]"
    if agent == "oracle":
        assert all(record["success"] for record in records)
    again = agentquest(environment, *command, folder=tmp_path)
    assert "20 of 20 episodes are there" in again.stderr
    assert records_of(tmp_path) == records


def test_the_page_of_a_run_shows_categories_and_purchases(
    environment: dict[str, str], tmp_path: Path
) -> None:
    run = ["benchmark=webshop", "num_games=5", "agent.name=scripted", "run_name=shopping"]
    assert agentquest(environment, "eval", *run, folder=tmp_path).returncode == 0
    page = tmp_path / "page.html"
    shown = agentquest(
        environment,
        *("report", "runs/shopping", "--format", "html", "--output", str(page)),
        folder=tmp_path,
    )
    assert shown.returncode == 0, shown.stderr
    text = page.read_text("utf-8")
    assert all(category in text for category in CATEGORIES)
    assert "click[buy now]" in text


def test_settings_of_the_benchmark_decide_and_are_passed_on(tmp_path: Path) -> None:
    def evaluation(*overrides: str) -> Evaluation:
        config, _ = load_config(
            None,
            [
                *("benchmark=webshop", "data_path=builtin", "num_games=5"),
                f"output_dir={tmp_path}",
                *overrides,
            ],
        )
        return Evaluation(config)

    plain = evaluation()
    human = evaluation("benchmark_settings.goals=human")
    assert plain.config.split == human.config.split == "test"
    assert plain.run_id.startswith("webshop-test-")
    assert plain.run_id == evaluation("split=test").run_id, "what is played decides, not how said"
    assert plain.run_id != human.run_id
    assert all(job.task.id.startswith("human/test/") for job in human.jobs)
    assert human.manifest()["provenance"]["goals"] == "human"
    with pytest.raises(ConfigError, match="has no setting 'prices'"):
        evaluation("benchmark_settings.prices=low")
    with pytest.raises(ConfigError, match=r"benchmark_settings\.split: give split by itself"):
        evaluation("benchmark_settings.split=dev")
    with pytest.raises(ConfigError, match="has no setting 'dialect'"):
        evaluation("dialect=0.3")


def test_no_split_means_the_benchmark_s_own_and_old_runs_keep_their_names() -> None:
    given = RunConfig(data_path="builtin", num_games=6, split="valid_unseen")
    left_out = Evaluation(RunConfig(data_path="builtin", num_games=6))
    assert left_out.run_id == Evaluation(given).run_id
    assert left_out.config.config_hash == given.config_hash
    assert "benchmark_settings" not in given.deciding()


def test_the_protocol_fixes_goals_and_turns_and_compares_on_real_data_only() -> None:
    config, _ = load_config(None, ["protocol=webshop-500", "data_path=builtin"])
    evaluation = Evaluation(config)
    assert len(evaluation.jobs) == 500
    assert config.max_steps == 15
    assert {job.task.id.split("/")[0] for job in evaluation.jobs} == {"human"}
    assert evaluation.manifest()["comparable_with"] == []
    with pytest.raises(ConfigError, match=r"benchmark_settings\.goals: protocol"):
        load_config(None, ["protocol=webshop-500", "benchmark_settings.goals=synthetic"])


def test_an_agent_may_ask_what_is_valid(environment: dict[str, str], tmp_path: Path) -> None:
    module = tmp_path / "asking_agent.py"
    module.write_text(
        "from agentquest.lib import Agent, Answer\n"
        "class Asking(Agent):\n"
        "    async def act(self, observation):\n"
        "        return Answer(action='check valid actions')\n"
    )
    asked = {**environment, "PYTHONPATH": str(tmp_path)}
    run = ["benchmark=webshop", "num_games=1", "max_steps=1", "agent.name=asking_agent:Asking"]
    done = agentquest(asked, "eval", *run, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (record,) = records_of(tmp_path)
    assert record["steps"][0]["observation"] == "Valid actions: search[<query>]"


def test_playing_and_listing(environment: dict[str, str], tmp_path: Path) -> None:
    listed = agentquest(
        environment, *("tasks", "webshop", "--type", "fashion", "--split", "dev"), folder=tmp_path
    )
    assert listed.stdout.splitlines()[0].startswith("synthetic/dev/")
    lines = "hint\n1\nhint all\n1\nundo\ncommands\ntask\nquit\n"
    played = subprocess.run(
        [sys.executable, "-m", "agentquest", "play", "webshop", "--task", "1"],
        input=lines,
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    assert "It can be done in" in played.stdout
    assert "Page 1 (Total results: 50)" in played.stdout
    assert "Taken back: click[" in played.stdout
    assert "[SEP]" not in played.stdout
