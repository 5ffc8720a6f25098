"""The recorded episodes again, through the interface they were recorded with."""

import json

import pytest

from agentquest.adapters.webshop_dropin import WebAgentTextEnv
from agentquest.adapters.webshop_server import SimServer
from shared_data import WEBSHOP, needs_webshop

pytestmark = needs_webshop
ITEMS = str(WEBSHOP / "data" / "items_shuffle_1000.json")


@pytest.fixture(autouse=True, scope="module")
def _cache(cache):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTQUEST_CACHE", str(cache))
        yield


def test_every_recorded_episode_replays(recordings, recorded_nouns):
    server = SimServer(file_path=ITEMS, price_seed=20240)
    server.shop.nouns = recorded_nouns
    modes = {"obs": "text", "obs_rich": "text_rich", "url": "url"}
    steps = 0
    for episode in recordings("episodes_text_1k.jsonl.gz"):
        if episode["session"] is None:
            continue
        envs = {
            key: WebAgentTextEnv(mode, server=server, session_prefix=f"{key}-")
            for key, mode in modes.items()
        }
        for key, env in envs.items():
            env.session_prefix = None
            assert env.reset(session=episode["session"])[0] == episode["reset"][key]
            assert env.instruction_text == episode["instruction_text"]
            for step in episode["steps"]:
                if "exception" in step:
                    env.step(step["action"])
                    continue
                state, reward, done, _ = env.step(step["action"])
                assert (state, reward, done) == (step[key], step["reward"], step["done"])
                assert type(reward) is type(step["reward"])
                available = env.get_available_actions()
                assert available["clickables"] == step["clickables"]
                assert available["has_search_bar"] == step["has_search_bar"]
                steps += 1
    assert steps > 4000


def test_drawn_goals_are_those_of_the_original():
    recorded = json.loads((WEBSHOP / "golden" / "agentquest_reset_sequence.json").read_text())
    env = WebAgentTextEnv("text", file_path=ITEMS)
    for draw in recorded["draws"]:
        if draw["draw"]:
            env.reset()
        goal = env.server.user_sessions[env.session]["goal"]
        assert (env.session, goal["asin"]) == (draw["session"], draw["asin"])
        assert goal["goal_options"] == draw["goal_options"]
