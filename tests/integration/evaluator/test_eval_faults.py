"""200 episodes against a server that fails three calls in ten score like against a good one."""

from pathlib import Path

import pytest
from evaluator_runs import agentquest, comparable_results, model_at, outcomes, rule_server

from agentquest.store.folder import RunFolder

EPISODES = 200


@pytest.mark.long
def test_faults_change_no_score(tmp_path: Path) -> None:
    arguments = [
        "split=train",
        f"num_games={EPISODES}",
        "max_steps=9",
        "parallel=64",
        "use_few_shot=false",
        "llm.timeout_s=0.6",
        "llm.max_response_bytes=500000",
    ]
    for name, faults in (("good", "0"), ("bad", "0.3")):
        with rule_server("--faults", faults, "--retry-after", "0.05", "--seed", "7") as url:
            done = agentquest(tmp_path, "eval", *model_at(url), *arguments, f"run_name={name}")
        assert done.returncode == 0, done.stderr
    good, bad = tmp_path / "runs" / "good", tmp_path / "runs" / "bad"
    assert len(outcomes(good)) == EPISODES
    assert outcomes(bad) == outcomes(good)
    theirs, ours = comparable_results(bad), comparable_results(good)
    assert theirs["summary"]["spent"].pop("retries") > ours["summary"]["spent"].pop("retries") == 0
    assert theirs == ours
    assert 0.2 < ours["summary"]["success_rate"] < 1.0
    calls = [call for record in RunFolder(bad).records() for call in record.calls]
    faults_met = sum(call.attempts - 1 for call in calls)
    assert faults_met > 0.25 * len(calls)
