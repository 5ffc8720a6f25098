"""Protocol 0.3, spoken by its own SDK in its own environment: the platform's side and agents."""

import json
import subprocess

import pytest
from agent_processes import DEADLINE_S, HERE, clean_environment, eventually, script
from environments import environment


@pytest.fixture(scope="session")
def old_python():
    return environment("sdk-0.3")


@pytest.fixture(scope="module")
def old_agents(old_python):
    with script("old_agents.py", python=old_python) as process:
        yield process.url


@pytest.mark.parametrize("manner", ["message", "artifact", "input"])
def test_agents_on_the_old_sdk_are_assessed(green, old_agents, manner):
    result = green.assess(f"{old_agents}{manner}/", max_steps=3)
    game = result.data["games"][0]
    assert (game["end_reason"], game["steps"], game["invalid_actions"]) == ("max_steps", 3, 0)


def ask_as_platform(old_python, green, manner, request):
    done = subprocess.run(
        [old_python, str(HERE / "old_client.py"), green.url, manner, request],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        env=clean_environment(),
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def agentbeats_request(url, **config):
    return json.dumps({"participants": {"agent": url}, "config": config})


@pytest.mark.parametrize("manner", ["stream", "wait"])
def test_the_platform_gets_one_result(old_python, green, scripted, manner):
    request = agentbeats_request(scripted, num_games=2, max_steps=20)
    answer = ask_as_platform(old_python, green, manner, request)
    assert answer["state"] == "completed"
    assert answer["names"] == ["Result"]
    assert len(answer["texts"]) == len(answer["data"]) == 1
    with pytest.raises(ValueError):
        json.loads(answer["texts"][0])
    assert answer["data"][0]["num_games"] == 2
    assert manner == "wait" or answer["updates"] >= 4


def test_the_platform_is_told_why_a_request_is_rejected(old_python, green):
    answer = ask_as_platform(old_python, green, "stream", '{"participants": {}}')
    assert answer["state"] == "rejected"
    assert "exactly one" in answer["said"]


def test_the_platform_can_cancel(old_python, green, strange):
    before = set(green.logs.iterdir())
    request = agentbeats_request(f"{strange}hang/", turn_timeout=600)
    assert ask_as_platform(old_python, green, "cancel", request)["state"] == "canceled"
    (folder,) = set(green.logs.iterdir()) - before
    summary = folder / "run_summary.json"
    assert eventually(lambda: json.loads(summary.read_text())["status"] == "cancelled")


def test_the_card_has_what_the_platform_reads(old_python, green, scripted):
    card = ask_as_platform(old_python, green, "wait", agentbeats_request(scripted))["card"]
    assert card["url"] == green.url
    assert card["protocolVersion"].startswith("0.3")
    assert card["preferredTransport"] == "JSONRPC"
    assert card["capabilities"]["streaming"] is True
    assert {"name", "description", "version", "skills"} <= set(card)
