"""The configuration says what is wrong with it, and never says the key."""

import json
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from agentquest.errors import ConfigError
from agentquest.lib.settings import describe_fields
from agentquest.llms.openai_chat import OpenAIChat, OpenAISettings
from agentquest.llms.prices import Price
from agentquest.llms.types import ChatModel

KEY = "sk-a-key-that-nobody-may-see"


def config(**fields: Any) -> OpenAISettings:
    return OpenAISettings(**{"model": "m", **fields})


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"model": ""}, "model"),
        ({"temprature": 0.3}, "temprature"),
        ({"temperature": -1}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"top_p": 0}, "top_p"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"max_retries": -1}, "max_retries"),
        ({"requests_per_minute": 0}, "requests_per_minute"),
        ({"max_concurrency": 0}, "max_concurrency"),
        ({"base_url": "host/v1"}, "base_url"),
        ({"base_url": "ftp://host/v1"}, "base_url"),
        ({"base_url": "http://"}, "base_url"),
        ({"base_url": "http://host:99999/v1"}, "base_url"),
        ({"base_url": "http://user:pass@host/v1"}, "api_key_env"),
        ({"base_url": "http://host/v1?key=x"}, "api_key_env"),
        ({"base_url": "http://host/v1/chat/completions"}, "without /chat/completions"),
        ({"extra_body": {"temperature": 1}}, "temperature"),
        ({"extra_body": {"stream": True}}, "stream"),
        ({"extra_body": {"x": float("nan")}}, "JSON"),
        ({"extra_body": {"x": object()}}, "JSON"),
        ({"extra_body": {"chat_template_kwargs": 1}}, "chat_template_kwargs"),
        ({"api_key": KEY, "api_key_env": "X"}, "not both"),
        ({"price_per_million_prompt": 1.0}, "both prices"),
    ],
)
def test_a_wrong_value_is_refused_by_name(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        config(**fields)


def test_every_field_is_documented() -> None:
    assert all(describe_fields(OpenAISettings).values())


def test_what_cannot_change_a_score_is_marked() -> None:
    marked = {
        name
        for name, field in OpenAISettings.model_fields.items()
        if isinstance(field.json_schema_extra, dict) and field.json_schema_extra["operational"]
    }
    deciding = set(OpenAISettings.model_fields) - marked
    assert deciding == {
        *("model", "base_url", "temperature", "max_tokens", "top_p", "stop", "seed"),
        *("extra_body", "enable_thinking", "send_reasoning"),
    }


def test_only_what_is_set_is_sent() -> None:
    assert config(temperature=None, max_tokens=None).request_fields() == {"model": "m"}


def test_everything_that_is_set_is_sent() -> None:
    sent = config(
        temperature=0.3,
        max_tokens=5,
        top_p=0.9,
        stop="\n",
        seed=4,
        extra_body={"top_k": 3, "chat_template_kwargs": {"x": 1}},
        enable_thinking=False,
    ).request_fields(seed=4)
    assert sent == {
        "model": "m",
        "temperature": 0.3,
        "max_tokens": 5,
        "top_p": 0.9,
        "stop": ["\n"],
        "seed": 4,
        "top_k": 3,
        "chat_template_kwargs": {"x": 1, "enable_thinking": False},
    }


def test_a_price_is_known_or_not() -> None:
    assert config().price is None
    priced = config(price_per_million_prompt=0.0, price_per_million_completion=2.0)
    assert priced.price == Price(0.0, 2.0)


def test_a_dump_reads_back_as_the_same_configuration() -> None:
    original = config(stop=["a", "b"], enable_thinking=True, extra_body={"a": [1]})
    assert OpenAISettings(**json.loads(original.model_dump_json())) == original


def test_the_key_comes_from_the_named_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", f" {KEY}\n")
    assert config(api_key_env="SOME_KEY").key().get_secret_value() == KEY
    assert config().key() == SecretStr("")


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_named_variable_must_be_set(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME_KEY", value)
    with pytest.raises(ConfigError, match="SOME_KEY"):
        config(api_key_env="SOME_KEY").key()


def test_a_key_that_no_header_can_carry_is_refused_without_saying_it() -> None:
    with pytest.raises(ConfigError) as caught:
        config(api_key=f"{KEY}\r\nX: y").key()
    assert KEY not in str(caught.value)


def test_the_key_is_in_no_form_of_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    for given in (config(api_key=KEY), config(api_key_env="SOME_KEY")):
        client = OpenAIChat(given)
        shown = [repr(given), str(given), str(given.model_dump()), given.model_dump_json()]
        shown += [repr(given.key()), repr(client), str(client)]
        assert not any(KEY in text for text in shown)


@pytest.mark.parametrize("fields", [{"apikey": KEY}, {"api_key": [KEY]}, {"api_key_env": [KEY]}])
def test_a_key_in_the_wrong_place_is_not_shown(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        config(**fields)
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value)


def test_the_client_is_a_chat_model() -> None:
    model: ChatModel = OpenAIChat(config())
    assert model.name == "m"
