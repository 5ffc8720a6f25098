"""verifiers' own evaluation, asking the player that our evaluator asks."""

import json
import shutil

import pytest
from adapter_scripts import SCRIPTS, run
from foreign import foreign_python
from server_process import served
from streaming_chat_server import chatting

from agentquest.adapters.arenas import TextPlayer, shared_arena, system_prompt
from agentquest.api import evaluate

OPENENV = """
model = "explorer"
output_dir = "{folder}"
[run]
name = "run"
[client]
base_url = "{chat}"
api_key_var = "FAKE_KEY"
[env.taskset]
id = "openenv"
base_url = "{server}"
resets = [{{ index = 0 }}]
[env.player.harness]
id = "null"
[env.player.runtime]
type = "subprocess"
"""
STEPS = 20
NUMBER = 6


def test_answers_are_read_as_the_evaluator_reads_them():
    arena = shared_arena("alfworld", {"data_path": "builtin"})
    player = TextPlayer(arena, 3, show_admissible=True)
    first = player.begin(arena.task(0))
    assert first.startswith("Goal: ")
    assert "Possible now: " in first
    assert "middle of a room" in player.answer("I look around.\nAction: look")
    told = player.answer("I would look around")
    assert "Could not parse" in told
    assert player.session.last.steps == 2
    player.answer("Action: inventory")
    assert player.session.last.over
    assert "Action: <command>" in system_prompt(arena)


def _ours(tmp_path):
    """The explorer on the first tasks of the split, by task."""
    tasks = [
        task.id for task in shared_arena("alfworld", {"data_path": "builtin"}).tasks()[:NUMBER]
    ]
    result = evaluate(
        benchmark="alfworld", data_path="builtin", tasks=tasks, agent="scripted",
        max_steps=STEPS, output_dir=tmp_path,
    )  # fmt: skip
    return {record.task_id: (record.reward, len(record.steps)) for record in result.records}


@pytest.fixture
def vf_eval():
    python = foreign_python("verifiers")
    if shutil.which("uv") is None:
        pytest.skip("verifiers starts its harnesses with uv, which is not on this machine")
    return python.replace("/python", "/vf-eval")


def test_its_scores_are_ours(tmp_path, vf_eval):
    settings = {"data_path": "builtin"}
    arguments = ["agentquest-v1", "-m", "explorer", "-n", NUMBER, "--no-push", "--no-rich"]
    arguments += ["--client.api-key-var", "FAKE_KEY", "-o", tmp_path, "--run.name", "run"]
    arguments += ["--env.taskset.max-steps", STEPS]
    arguments += ["--env.taskset.settings", json.dumps(settings)]
    with chatting("explorer_answers:answer") as url:
        run([vf_eval, *arguments, "--client.base-url", url], FAKE_KEY="none")
    scores = {}
    for line in (tmp_path / "run" / "traces.jsonl").read_text().splitlines():
        (trace,) = json.loads(line)["traces"]
        assert trace["ok"], trace["errors"]
        data = trace["task"]["data"]
        scores[data["task_id"]] = (trace["rewards"]["reward"]["score"], trace["metrics"]["steps"])
    assert scores == _ours(tmp_path / "ours")


def test_the_oracle_validates_the_tasks():
    python = foreign_python("verifiers")
    out = run([python, SCRIPTS / "verifiers_taskset.py"])
    assert json.loads(out.splitlines()[-1]) == {"tasks": 134, "valid": [True] * 5}


def test_its_openenv_taskset_plays_our_server(tmp_path, vf_eval):
    vf_eval = foreign_python("verifiers_openenv").replace("/python", "/vf-eval")
    settings = tmp_path / "run.toml"
    with (
        served("serve", "openenv", "alfworld", "data_path=builtin", "--port", "0") as server,
        chatting("openenv_answers:answer") as chat,
    ):
        settings.write_text(OPENENV.format(server=server, chat=chat, folder=tmp_path))
        run([vf_eval, "@", settings, "-n", 1, "--no-push", "--no-rich"], FAKE_KEY="none")
    (episode,) = (tmp_path / "run" / "traces.jsonl").read_text().splitlines()
    (trace,) = json.loads(episode)["traces"]
    assert trace["ok"], trace["errors"]
    first = next(iter(_ours(tmp_path / "ours").values()))
    assert trace["rewards"]["openenv_reward"]["score"] == first[0] == 1.0
