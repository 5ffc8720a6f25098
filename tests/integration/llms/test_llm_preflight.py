"""What is wrong with a model is one line, from one request."""

import sys
from collections.abc import Sequence
from typing import Any

import pytest

from agentquest.llms.failures import (
    AuthenticationFailed,
    BadRequest,
    ModelFailure,
    ModelUnavailable,
)
from agentquest.llms.openai_chat import OpenAIChat, OpenAISettings
from agentquest.records.messages import ToolSpec
from chat_faults import Fault
from chat_server import ChatServer
from said import Said

KEY = "sk-a-key-that-nobody-may-see"
ACT = ToolSpec(name="act", description="Do something.")


async def preflight(
    url: str, tools: Sequence[ToolSpec] = (), timeout_s: float = 60.0, **fields: Any
) -> tuple[str, ...]:
    client = OpenAIChat(OpenAISettings(model="qwen", base_url=url, **fields))
    try:
        return await client.preflight(tools=tools, timeout_s=timeout_s)
    finally:
        await client.close()


async def refused(
    kind: type[ModelFailure], url: str, tools: Sequence[ToolSpec] = (), **fields: Any
) -> str:
    """The one line that a preflight fails with."""
    with pytest.raises(kind) as caught:
        await preflight(url, tools, **fields)
    assert caught.value.__cause__ is None
    if sys.version_info >= (3, 11):  # before, what another task was handling is its context
        assert caught.value.__context__ is None
    line = str(caught.value)
    assert "\n" not in line
    return line


async def test_a_model_that_answers_passes() -> None:
    async with ChatServer() as server:
        assert await preflight(server.url) == ()
    assert server.count == 1


async def test_a_server_that_is_not_there() -> None:
    async with ChatServer() as server:
        url = server.url
    line = await refused(ModelUnavailable, url)
    assert line.startswith(f"no server at {url}; is it running, and is llm.base_url correct?")


async def test_an_address_of_the_environment_is_named_by_its_variable(monkeypatch) -> None:
    async with ChatServer() as server:
        url = server.url
    monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/")
    assert "is OPENAI_BASE_URL correct?" in await refused(ModelUnavailable, url)


async def test_a_wrong_path() -> None:
    async with ChatServer() as server:
        line = await refused(BadRequest, server.url.removesuffix("/v1"))
    assert line.startswith("nothing answers at http://127.0.0.1")
    assert "is llm.base_url correct?" in line
    assert "the model" not in line.split("HTTP 404")[0]


async def test_a_page_instead_of_an_answer() -> None:
    async with ChatServer(script=[Fault.GARBAGE] * 9) as server:
        line = await refused(BadRequest, server.url)
    assert "/chat/completions answers, but not like a model server" in line


async def test_an_unknown_model() -> None:
    async with ChatServer(script=[Fault.NOT_FOUND]) as server:
        line = await refused(BadRequest, server.url)
    assert f"{server.url} does not have the model 'qwen': HTTP 404: No such model." in line


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "without a key (set llm.api_key_env)"),
        ({"api_key": KEY}, "with the configured key"),
        ({"api_key_env": "SOME_KEY"}, "with the key in $SOME_KEY"),
    ],
)
async def test_a_wrong_key(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, str], told: str
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    async with ChatServer(api_key="another") as server:
        line = await refused(AuthenticationFailed, server.url, **fields)
    assert told in line
    assert KEY not in line


async def test_a_key_that_the_server_throws_back_is_masked() -> None:
    async with ChatServer(script=[Fault.ECHO_KEY]) as server:
        line = await refused(AuthenticationFailed, server.url, api_key=KEY)
    assert "Bearer ***" in line
    assert KEY not in line


async def test_a_model_that_cannot_call_tools() -> None:
    async with ChatServer(script=[Fault.NO_TOOLS]) as server:
        line = await refused(BadRequest, server.url, [ACT])
    assert line.startswith(f"qwen at {server.url} cannot call tools: HTTP 400")


async def test_a_model_that_calls_tools_passes_and_one_that_talks_is_told_of() -> None:
    async with ChatServer(lambda messages: Said(calls=(("act", "{}"),))) as server:
        assert await preflight(server.url, [ACT]) == ()
    async with ChatServer(lambda messages: "Gladly.") as server:
        (line,) = await preflight(server.url, [ACT])
    assert line == "qwen answered in text although it was asked to call a tool"


async def test_a_context_that_the_reply_alone_fills() -> None:
    async with ChatServer(script=[Fault.CONTEXT]) as server:
        line = await refused(BadRequest, server.url, max_tokens=200_000)
    assert "llm.max_tokens=200000 leaves no room for a prompt" in line


async def test_a_server_that_does_not_answer() -> None:
    async with ChatServer(script=[Fault.HANG]) as server:
        line = await refused(ModelUnavailable, server.url, timeout_s=0.2)
    assert line == f"{server.url}: no answer within 0.2 s"


async def test_a_server_that_is_broken_is_asked_a_few_times() -> None:
    async with ChatServer(script=[Fault.SERVER_ERROR] * 9) as server:
        line = await refused(ModelUnavailable, server.url, wait_interval=0.0)
    assert line == f"{server.url}: HTTP 500: Something broke."
    assert server.count == 3


@pytest.mark.parametrize("fault", [Fault.OVERLOADED, Fault.RESET, Fault.GARBAGE])
async def test_a_single_failure_is_no_reason_not_to_begin(fault: Fault) -> None:
    async with ChatServer(script=[fault]) as server:
        assert await preflight(server.url, wait_interval=0.0) == ()
    assert server.count == 2


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault.RATE_LIMIT, "already refusing requests"),
        (Fault.NO_USAGE, "reports no token counts"),
        (Fault.LENGTH, "cut off"),
    ],
)
async def test_what_is_no_failure_is_told(fault: Fault, told: str) -> None:
    async with ChatServer(script=[fault]) as server:
        (line,) = await preflight(server.url)
    assert told in line


async def test_a_password_in_the_address_is_refused_unseen() -> None:
    with pytest.raises(ValueError, match="must not contain a user") as caught:
        OpenAISettings(model="m", base_url=f"https://user:{KEY}@127.0.0.1/v1")
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value)
