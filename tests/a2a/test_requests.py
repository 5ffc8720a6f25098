"""Requests: the documented text, AgentBeats' JSON, and everything that is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.a2a.config import AssessmentConfig
from agentquest.a2a.requests import (
    RequestRejected,
    parse_request,
    write_request,
)
from growth import MOST, growth, repeated

DOCUMENTED = """
Your task is to run ALFWorld assessment to test the agent located at:
<white_agent_url>
http://localhost:9002/
</white_agent_url>
You should use the following env configuration:
<env_config>
{
  "env_type": "AlfredTWEnv",
  "train_eval": "eval_out_of_distribution",
  "num_games": 1,
  "max_steps": 50,
  "task_types": [
    1,
    2,
    3,
    4,
    5,
    6
  ],
  "coverage_mode": "standard",
  "num_games_per_type": null
}
</env_config>
    """


def test_the_documented_request_is_what_the_launcher_sends():
    assert write_request("http://localhost:9002/", AssessmentConfig()) == DOCUMENTED


def test_the_documented_request_is_understood():
    request = parse_request(DOCUMENTED)
    assert request.agent_url == "http://localhost:9002/"
    assert request.config == AssessmentConfig(task_types=(1, 2, 3, 4, 5, 6), max_steps=50)
    assert request.warnings == ()


def test_a_request_survives_the_journey():
    config = AssessmentConfig(
        num_games=7,
        max_steps=30,
        seed=3,
        concurrency=4,
        turn_timeout=5,
        task_types=(1, 5),
        benchmark="alfworld",
    )
    assert parse_request(write_request("http://a:1/", config)).config == config


def agentbeats(config=None, **more):
    content = {"participants": {"agent": "http://p:9009/"}, "config": config or {}, **more}
    return json.dumps(content)


def test_the_request_of_agentbeats():
    text = agentbeats({"num_games": 20.0, "shard_index": 1, "num_shards": 4, "num_instances": 10})
    request = parse_request(text)
    assert request.agent_url == "http://p:9009/"
    assert (request.config.num_games, request.config.shard_index) == (20, 1)
    assert (request.config.num_shards, request.config.num_instances) == (4, 10)


def test_task_types_of_the_command_line_are_sent_as_numbers():
    config = AssessmentConfig.model_validate({"task_types": "1,2"})
    assert '"task_types": [\n    1,\n    2\n  ]' in write_request("http://h:1/", config)


def test_null_means_not_given():
    config = {"num_games_per_type": None, "coverage_mode": "comprehensive", "task_types": None}
    assert parse_request(agentbeats(config)).config.per_type == 5


def test_unknown_keys_are_warned_of():
    warnings = parse_request(agentbeats({"colour": 1}, extra=2)).warnings
    assert any("config.colour" in line for line in warnings)
    assert any(line.startswith("extra") for line in warnings)


@pytest.mark.parametrize(
    ("mode", "given", "per_type"),
    [
        ("standard", None, None),
        ("balanced", None, 1),
        ("comprehensive", None, 5),
        ("standard", 3, 3),
        ("comprehensive", 2, 2),
    ],
)
def test_games_of_each_type(mode, given, per_type):
    config = AssessmentConfig(coverage_mode=mode, num_games_per_type=given)
    assert config.per_type == per_type


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("eval_out_of_distribution", "valid_unseen"),
        ("eval_in_distribution", "valid_seen"),
        ("train", "train"),
        ("valid_seen", "valid_seen"),
    ],
)
def test_splits_by_either_name(name, split):
    assert AssessmentConfig(train_eval=name).split == split


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not an assessment request"),
        ("hello", "not an assessment request"),
        ("{}", "not an assessment request"),
        ("[1]", "not an assessment request"),
        ('{"num_games": 1}', "not an assessment request"),
        (json.dumps({"participants": {}}), "exactly one"),
        (json.dumps({"participants": {"a": "http://a", "b": "http://b"}}), "exactly one"),
        (json.dumps({"participants": ["http://a"]}), "exactly one"),
        (json.dumps({"participants": {"a": "ftp://a"}}), "must be an address"),
        (json.dumps({"participants": {"a": 5}}), "agent_url"),
        (agentbeats({"num_games": 0}), "config.num_games"),
        (agentbeats({"num_games": "many"}), "config.num_games"),
        (agentbeats({"num_games": True}), "config.num_games"),
        (agentbeats({"max_steps": 2.5}), "config.max_steps"),
        (agentbeats({"coverage_mode": "adversarial"}), "config.coverage_mode"),
        (agentbeats({"env_type": "AlfredThorEnv"}), "simulator"),
        (agentbeats({"shard_index": 2, "num_shards": 2}), "shard_index"),
        (agentbeats({"task_types": []}), "config.task_types"),
        (json.dumps({"participants": {"a": "http://a"}, "config": [1]}), "JSON object"),
        ("<white_agent_url>http://a/</white_agent_url>", "<env_config>"),
        ("<env_config>{}</env_config>", "<white_agent_url>"),
        ("<white_agent_url>http://a</white_agent_url><env_config>x</env_config>", "not JSON"),
    ],
)
def test_rejected_with_the_reason(text, reason):
    with pytest.raises(RequestRejected, match=reason):
        parse_request(text)


@given(st.text(max_size=200))
def test_other_text_is_rejected(text):
    with pytest.raises(RequestRejected, match="not an assessment request"):
        parse_request(text)


def rejected(text):
    with pytest.raises(RequestRejected):
        parse_request(text)


@pytest.mark.parametrize(
    "unit", ["<env_config>", "<white_agent_url>", "</env_config>", "[", '{"a":', "<"]
)
def test_rejecting_costs_no_more_than_the_request_is_long(unit):
    assert growth(rejected, repeated(unit)) < MOST


@pytest.mark.parametrize("unit", ["[", '{"participants":'])
def test_nesting_beyond_all_reason_is_rejected(unit):
    rejected(unit * 200_000)
    rejected(
        f"<white_agent_url>http://a/</white_agent_url><env_config>{unit * 200_000}</env_config>"
    )


def test_a_password_is_no_part_of_the_request():
    request = parse_request(agentbeats().replace("http://p", "http://me:hidden@p"))
    assert request.agent_url == "http://p:9009/"
    assert request.authorization == "Basic bWU6aGlkZGVu"
    assert "hidden" not in repr(request)
    assert "Basic" not in request.model_dump_json()
    with pytest.raises(RequestRejected) as caught:
        parse_request(agentbeats().replace("http://p:9009", "http://me:hidden@"))
    assert "hidden" not in str(caught.value)


class TestProtocols:
    def test_a_protocol_says_what_is_played(self):
        config = parse_request(agentbeats({"protocol": "agentify-100"})).config
        assert (config.num_games, config.max_steps, config.split) == (100, 50, "valid_unseen")
        everything = parse_request(agentbeats({"protocol": "seen-140", "num_shards": 20})).config
        assert (everything.num_games, everything.split) == (100_000, "valid_seen")

    def test_it_survives_the_journey(self):
        config = AssessmentConfig(protocol="unseen-134", concurrency=4)
        assert parse_request(write_request("http://a:1/", config)).config == config

    @pytest.mark.parametrize(
        ("more", "reason"),
        [
            ({"num_games": 3}, "num_games: protocol agentify-100 fixes it to 100"),
            ({"task_types": [1]}, "leave out task_types"),
            ({"coverage_mode": "balanced"}, "leave out coverage_mode"),
            ({"protocol": "react-1"}, "not a protocol"),
        ],
    )
    def test_anything_else_is_rejected(self, more, reason):
        with pytest.raises(RequestRejected, match=reason):
            parse_request(agentbeats({"protocol": "agentify-100", **more}))
