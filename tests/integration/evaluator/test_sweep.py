"""`agentquest sweep`: which runs it makes, one job that resumes, one table and one comparison."""

import csv
import io
import json
import re
import signal
from pathlib import Path

import pytest
from evaluator_runs import (
    PATIENCE_S,
    agentquest,
    lines_in,
    outcomes,
    rule_server,
    scored_keys,
    started,
    wait_until,
)

from agentquest.errors import UserError
from agentquest.records.episode import EpisodeRecord
from agentquest.running.sweep import load_sweep
from agentquest.store.folder import RunFolder

SMALL = """
name: small
agents: [react, random, {name: random, label: slips}]
seeds: [1, 2]
run: {benchmark: mastermind, num_games: 4, max_steps: 8}
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "sweep.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_every_combination_is_a_run(tmp_path: Path) -> None:
    text = """
name: all
models: [scripted, {model: qwen/qwen3-8b, base_url: "http://x/v1", label: qwen}]
agents: [react, {name: tools}, random]
protocols: [unseen-134, seen-140]
seeds: [1, 2, 3]
run: {data_path: builtin, llm: {temperature: 0.1}, parallel: 32}
"""
    sweep = load_sweep(written(tmp_path, text))
    # Random asks no model: 2 protocols × (2 agents × 2 models + 1) × 3 seeds.
    assert len(sweep.runs) == len({run.name for run in sweep.runs}) == 30
    first = next(run for run in sweep.runs if run.name == "tools_qwen_seen-140_seed-3")
    assert first.config.protocol == "seen-140"
    assert first.config.seed == 3
    assert first.config.parallel == 32
    assert first.config.llm is not None
    assert first.config.llm.settings["model"] == "qwen/qwen3-8b"
    assert first.config.llm.settings["temperature"] == 0.1
    assert first.config.output_dir == Path("runs/all")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agents: [react]", "name: is missing"),
        ("name: a\nmodles: [m]", "modles: unknown key; did you mean 'models'"),
        ("name: a\nseeds: []", "seeds: is empty"),
        ("name: a\nmodels: [{model: m, temperature: 0}, {model: m}]", "two runs are called"),
        ("name: a\nagents: [reakt]", "'reakt' is not an agent; did you mean 'react'"),
        ("name: a\nmodels: [{modle: m}]", "every model needs `model`"),
        ("name: a\nrun: {seed: 3}", "seed: in a sweep, use 'seeds' instead"),
        ("name: a\nrun: {num_gmes: 3}", "run react_scripted_seed-42: num_gmes: unknown key"),
        ("name: a/b", "name: must be a name of letters"),
    ],
)
def test_a_mistake_is_said_before_anything_is_played(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError) as raised:
        load_sweep(written(tmp_path, text))
    assert said in str(raised.value)


def test_one_table_and_one_comparison(tmp_path: Path) -> None:
    written(tmp_path, SMALL)
    listed = agentquest(tmp_path, "sweep", "sweep.yaml", "--dry-run")
    assert listed.stdout.splitlines()[-1] == "6 runs, 24 episodes"
    assert not (tmp_path / "runs").exists()
    done = agentquest(tmp_path, "sweep", "sweep.yaml", "parallel=3", COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("answers by rules (in 2 of 6 runs)") == 1
    rows = [line for line in done.stdout.splitlines() if line.startswith("  react scripted, ")]
    assert [row.split()[2:4] for row in rows[:3]] == [
        ["seed", "1"],
        ["seed", "2"],
        ["all", "seeds"],
    ]
    assert "random solves less than react scripted" in done.stdout
    assert "slips" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    again = agentquest(tmp_path, "sweep", "sweep.yaml", "-f", "json")
    assert "6 runs in runs/small, 0 episodes to play" in again.stderr
    told = json.loads(again.stdout)
    pooled = {row["agent"]: row for row in told["runs"] if row["seed"] is None}
    won = [record.success for run in (1, 2) for record in records(tmp_path, f"random_seed-{run}")]
    assert pooled["random"]["metrics"]["success"]["value"] == sum(won) / len(won)
    assert pooled["react"]["scored"] == 8
    compared = told["comparisons"]
    assert [(one["other"], one["baseline"]) for one in compared] == [
        ("random", "react scripted"),
        ("slips", "react scripted"),
    ]
    assert {one["tasks"] for one in compared} == {8}
    table = agentquest(tmp_path, "sweep", "sweep.yaml", "-f", "csv").stdout
    cells = list(csv.DictReader(io.StringIO(table)))
    assert [(row["agent"], row["seed"] or None) for row in cells] == [
        (row["agent"], row["seed"] and str(row["seed"])) for row in told["runs"]
    ]
    assert [float(row["success_low"]) for row in cells] == [
        row["metrics"]["success"]["low"] for row in told["runs"]
    ]


def test_it_runs_on_any_executor(tmp_path: Path) -> None:
    written(tmp_path, SMALL.replace("[1, 2]", "[1]").replace("react, random,", "react,"))
    words = ("executor=processes", "executor.workers=1", "--num-games", "1", "output_dir=elsewhere")
    done = agentquest(tmp_path, "sweep", "sweep.yaml", *words)
    assert done.returncode == 0, done.stderr
    runs = sorted((tmp_path / "elsewhere" / "small").iterdir())
    assert [run.name for run in runs] == ["react_scripted_seed-1", "slips_seed-1"]
    for run in runs:
        assert RunFolder(run).manifest().config["executor"]["name"] == "processes"


def records(folder: Path, name: str) -> list[EpisodeRecord]:
    return RunFolder(folder / "runs" / "small" / name).records()


@pytest.mark.long
def test_killed_at_any_moment_it_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    """Killed within the first run, within the last one, and stopped by Ctrl-C between."""
    with rule_server("--latency", "0.002") as url:
        text = f"""
name: small
models: [{{model: rules, base_url: "{url}"}}]
agents: [{{name: react, history_length: 60}}, scripted]
seeds: [1, 2]
run: {{data_path: builtin, num_games: 12, max_steps: 12, parallel: 2}}
"""
        whole, disturbed = tmp_path / "whole", tmp_path / "disturbed"
        for folder in (whole, disturbed):
            folder.mkdir()
            written(folder, text)
        done = agentquest(whole, "sweep", "sweep.yaml")
        assert done.returncode == 0, done.stderr
        for name, number in (
            ("react_rules_seed-1", signal.SIGKILL),
            ("react_rules_seed-2", signal.SIGINT),
            ("scripted_seed-2", signal.SIGKILL),
        ):
            run = disturbed / "runs" / "small" / name
            with started(disturbed, "sweep", "sweep.yaml") as process:
                wait_until(lambda run=run: lines_in(run) >= 2, f"episodes of {name}")
                process.send_signal(number)
                process.communicate(timeout=PATIENCE_S)
            assert process.returncode in (-9, 130, 0)  # the last run may have been over already
        last = agentquest(disturbed, "sweep", "sweep.yaml")
    assert last.returncode == 0, last.stderr
    # How long calls took is the one thing that differs: a few hundredths of a second.
    last_said, whole_said = (re.sub(r" +0\.0\d\b", " …", one.stdout) for one in (last, done))
    assert last_said == whole_said, "the same table and the same comparison"
    for run in sorted((whole / "runs" / "small").iterdir()):
        other = disturbed / "runs" / "small" / run.name
        keys = scored_keys(other)
        assert len(keys) == len(set(keys)) == 12
        assert outcomes(other) == outcomes(run)


def test_a_run_that_its_server_fails_is_owed_and_the_others_are_played(tmp_path: Path) -> None:
    text = """
name: small
models: [{model: gone, base_url: "http://127.0.0.1:1/v1", max_retries: 0}]
agents: [react, scripted, random]
run: {benchmark: mastermind, num_games: 2}
"""
    written(tmp_path, text)
    done = agentquest(tmp_path, "sweep", "sweep.yaml")
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "some episodes have no score; run the same command again" in done.stderr
    assert len(scored_keys(tmp_path / "runs" / "small" / "scripted_seed-42")) == 2
    assert done.stderr.count("not compared: react gone") == done.stderr.count("not compared") == 1
    assert "random against scripted (baseline)" in done.stdout
    named = "gone at http://127.0.0.1:1/v1 cannot be asked, and its runs are not played: "
    assert done.stderr.count(named) == 1
    assert done.stderr.startswith("asking gone at http://127.0.0.1:1/v1 …\n"), "before it waits"
    assert not scored_keys(tmp_path / "runs" / "small" / "react_gone_seed-42")
    live = tmp_path / "runs" / "small" / "react_gone_seed-42" / "live.jsonl"
    assert "2 runs in runs/small, 4 episodes to play" in done.stderr
    assert not live.exists(), "nothing was played against a server that is not there"


def test_where_no_model_answers_nothing_is_made(tmp_path: Path) -> None:
    text = """
name: small
models: [{model: gone, base_url: "http://127.0.0.1:1/v1", max_retries: 0}]
seeds: [1, 2]
run: {benchmark: mastermind, num_games: 2}
"""
    written(tmp_path, text)
    done = agentquest(tmp_path, "sweep", "sweep.yaml")
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("gone at http://127.0.0.1:1/v1 cannot be asked") == 1
    assert done.stderr.count("no server at") == 1
    assert not (tmp_path / "runs").exists()
