"""Killed at any moment and resumed, a run ends like one that nobody disturbed."""

import json
from pathlib import Path

import pytest
from evaluator_runs import (
    HERE,
    PATIENCE_S,
    agentquest,
    comparable_results,
    environment,
    model_at,
    outcomes,
    rule_server,
    scored_keys,
)

import warm_python

KILLS = 30
GAMES = 134


@pytest.mark.long
def test_thirty_kills_lose_no_episode_and_repeat_none(tmp_path: Path) -> None:
    with rule_server("--latency", "0.004") as url:
        arguments = [
            *model_at(url),
            f"num_games={GAMES}",
            "use_few_shot=false",
            "max_steps=10",
            "parallel=6",
        ]
        whole = agentquest(tmp_path, "eval", *arguments, "run_name=whole")
        assert whole.returncode == 0, whole.stderr
        script = [HERE / "killed_run.py", "20260214", KILLS, tmp_path / "runs" / "killed"]
        disturbed = warm_python.run(
            [*script, *arguments, "run_name=killed"],
            cwd=tmp_path,
            env=environment(),
            timeout=PATIENCE_S,
        )
    assert disturbed.returncode == 0, disturbed.stderr
    told = json.loads(disturbed.stdout)
    assert told == {"kills": KILLS, "torn": told["torn"], "early": 0, "code": 0}
    assert told["torn"] >= 5
    undisturbed, killed = tmp_path / "runs" / "whole", tmp_path / "runs" / "killed"
    keys = scored_keys(killed)
    assert len(keys) == len(set(keys)) == GAMES
    assert outcomes(killed) == outcomes(undisturbed)
    assert comparable_results(killed) == comparable_results(undisturbed)
    assert sorted(path.name for path in killed.iterdir()) == sorted(
        path.name for path in undisturbed.iterdir()
    )
