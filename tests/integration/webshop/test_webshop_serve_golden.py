"""The server against recordings of the original."""

import ast
import gzip
import json

import pytest
from serving_process import ServerProcess, post

from agentquest.benchmarks.webshop import WebshopAction, WebshopDriver
from shared_data import SHARED, WEBSHOP, needs_webshop

pytestmark = needs_webshop
GOLDEN = WEBSHOP / "golden"
SEED = 20240


@pytest.fixture(scope="module")
def data_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("data-cache")


@pytest.fixture(scope="module")
def strict(data_cache, tmp_path_factory):
    options = ("--data", str(WEBSHOP / "data"), "--seed", str(SEED), "--strict")
    with ServerProcess(tmp_path_factory.mktemp("strict"), data_cache, *options) as process:
        yield process


def unpacked(name):
    return gzip.decompress((GOLDEN / name).read_bytes())


def test_resets_follow_the_recorded_sequence(strict):
    goals = json.loads(unpacked("server_state_seed20240.json.gz"))["goals"]
    draws = json.loads((GOLDEN / "agentquest_reset_sequence.json").read_text())["draws"]
    for draw in draws[1:]:  # the original spends the first on starting up
        instruction = goals[draw["goal_index"]]["instruction_text"]
        expected = {
            "available_actions": {"clickables": ["search"], "has_search_bar": True},
            "info": None,
            "obs": f"WebShop [SEP] Instruction: [SEP] {instruction} [SEP] Search",
        }
        text = json.dumps(expected, sort_keys=True, separators=(",", ":")) + "\n"
        assert post(f"{strict.url}/reset").body == text.encode("ascii")


def test_recorded_episodes_come_out_over_http(strict):
    """Everything but the last number, which depends on the tagger that is installed."""
    episodes = [json.loads(line) for line in unpacked("episodes_text_1k.jsonl.gz").splitlines()]
    played = 0
    for episode in episodes:
        if episode["session"] is None or any("<r>" in s["action"] for s in episode["steps"]):
            continue  # depends on what was drawn before
        played += 1
        recorder = {"X-Session": "recorder"}
        post(f"{strict.url}/reset", {"session": episode["session"]}, recorder)
        for step in episode["steps"]:
            received = post(f"{strict.url}/step", {"action": step["action"]}, recorder)
            if "exception" in step:  # the original breaks down here
                assert received.status == 422
                continue
            answer = received.json
            score = " [SEP] Your score"
            assert answer["obs"].split(score)[0] == step["obs"].split(score)[0]
            assert answer["available_actions"]["clickables"] == step["clickables"]
            assert answer["available_actions"]["has_search_bar"] == step["has_search_bar"]
            assert answer["done"] == step["done"]
    assert played > 100


def test_the_documented_run_is_played_on_a_server(data_cache, tmp_path):
    (document,) = (SHARED / "seeds").glob("004_*")
    text = document.read_text("utf-8")
    start = text.index("{'goal'")
    printed = ast.literal_eval(text[start : text.index("```", start)])
    with ServerProcess(tmp_path, data_cache, "--data", str(WEBSHOP / "data")) as process:
        driver = WebshopDriver(base_url=process.url)
        driver.reset()
        for action in printed["actions"]:
            driver.step(WebshopAction(**action))
        exported = driver.metrics.export(
            repetition_function_kwargs={"theta_a": 1, "num_execution_steps": 10}
        )
    assert exported == printed
    assert json.dumps(exported["states"]) == json.dumps(printed["states"])
