"""The green agent with agents of every manner, good and bad, each a real server."""

import json

import pytest
from agent_processes import script

from agentquest.a2a.launcher import AssessmentFailed


@pytest.fixture(scope="module", params=[("1.0",), ("0.3",)], ids="protocol {0[0]}".format)
def sdk_agents(request):
    with script("sdk_agents.py", *request.param) as process:
        yield process.url


@pytest.mark.parametrize(
    "manner", ["message", "artifact", "status", "input", "input-artifact", "late"]
)
def test_every_proper_reply_is_understood(green, sdk_agents, manner):
    result = green.assess(f"{sdk_agents}{manner}/", max_steps=3)
    game = result.data["games"][0]
    assert (game["end_reason"], game["steps"], game["invalid_actions"]) == ("max_steps", 3, 0)
    assert result.data["agent"] == manner


def test_a_task_that_fails_is_an_error_with_its_reason(green, sdk_agents):
    game = green.assess(f"{sdk_agents}failed/").data["games"][0]
    assert game["end_reason"] == "agent_error"
    assert "no brain" in game["error"]


@pytest.mark.parametrize(
    "manner",
    ["close", "endless", "status", "html", "error", "neither", "other-result", "openai", "list"],
)
def test_a_broken_agent_loses_and_is_told_apart(green, strange, manner):
    result = green.assess(f"{strange}{manner}/", num_games=2)
    assert [game["end_reason"] for game in result.data["games"]] == ["agent_error"] * 2
    assert result.data["errors"] == 2
    assert result.data["num_games"] == 2
    assert result.data["success_rate"] == 0
    assert result.data["overall_score"] == 0
    assert "\nErrors\n  game 1  agent_error: " in result.text


def test_an_agent_that_hangs_runs_out_of_time(green, strange):
    result = green.assess(f"{strange}hang/", turn_timeout=0.5, num_games=2, concurrency=2)
    assert [game["end_reason"] for game in result.data["games"]] == ["agent_timeout"] * 2


@pytest.mark.parametrize("manner", ["huge", "nonsense", "empty"])
def test_nonsense_costs_steps_and_plays_nothing(green, strange, manner):
    result = green.assess(f"{strange}{manner}/", max_steps=4)
    game = result.data["games"][0]
    assert (game["end_reason"], game["steps"], game["invalid_actions"]) == ("max_steps", 4, 4)
    assert result.data["num_games"] == 1
    assert result.data["success_rate"] == 0
    assert game["consecutive_repetition_rate"] == 0.75
    turns = [json.loads(line) for line in newest(green, "game_000_actions.jsonl").splitlines()]
    assert all(turn["observation"].startswith("Nothing happens.\nYour reply") for turn in turns)
    assert len(turns[0]["reply"]) < 3000


def test_an_agent_that_dies_ends_its_game_only(green):
    with script("strange_agents.py") as process:
        result = green.assess(f"{process.url}crash/", num_games=3)
    ends = [game["end_reason"] for game in result.data["games"]]
    assert ends == ["agent_error"] * 3


@pytest.mark.parametrize(
    "manner", ["no-card", "html-card", "odd-card", "list-card", "grpc-only", "slow-card"]
)
def test_what_is_no_agent_cannot_be_assessed(green, strange, manner):
    with pytest.raises(AssessmentFailed, match="card"):
        green.assess(f"{strange}{manner}/", turn_timeout=1)


def test_nobody_there(green):
    with pytest.raises(AssessmentFailed, match="http://localhost:9/"):
        green.assess("http://localhost:9/", turn_timeout=1)


def test_the_green_agent_is_still_there(green, scripted):
    assert green.assess(scripted).data["wins"] == 1


def newest(green, name):
    folder = max(green.logs.iterdir(), key=lambda run: run.stat().st_mtime_ns)
    return (folder / name).read_text()
