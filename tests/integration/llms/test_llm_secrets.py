"""A key that the server throws back shows up nowhere."""

import asyncio
import base64
import logging
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from agentquest.llms.failures import ModelFailure
from agentquest.llms.openai_chat import OpenAIChat, OpenAISettings
from agentquest.llms.redaction import Redactor
from agentquest.records.messages import Message
from chat_faults import PASSING, Fault
from chat_server import ChatServer

KEY = "sk-a-key-that-nobody-may-see"
HELLO = [Message(role="user", content="ACTION: look")]

FATAL = (Fault.UNAUTHORIZED, Fault.ECHO_KEY, Fault.BAD_REQUEST, Fault.NOT_FOUND, Fault.REDIRECT)


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and everything that hangs on it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def entries(folder: Path) -> list[str]:
    return [path.read_text() for path in folder.rglob("*.json")]


async def ask(monkeypatch: pytest.MonkeyPatch, server: ChatServer, **fields: Any) -> str:
    """All that a call shows: its reply or the whole of its error."""
    monkeypatch.setenv("SOME_KEY", KEY)
    config = OpenAISettings(
        model="m",
        base_url=server.url,
        api_key_env="SOME_KEY",
        wait_interval=0.0,
        max_retries=1,
        timeout_s=0.3,
        **fields,
    )
    client = OpenAIChat(config)
    try:
        return repr(await client.complete(HELLO))
    except ModelFailure as failure:
        whole = "".join(traceback.TracebackException.from_exception(failure).format())
        linked = [repr(error) + str(error) + repr(vars(error)) for error in chain(failure)]
        return whole + "".join(linked)
    finally:
        await client.close()


@pytest.mark.parametrize("fault", [Fault.ECHO_KEY_500, *FATAL, *PASSING])
async def test_no_failure_shows_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: Fault
) -> None:
    caplog.set_level(logging.DEBUG)
    asyncio.get_running_loop().set_debug(True)
    async with ChatServer(api_key=KEY, script=[fault, fault]) as server:
        shown = await ask(monkeypatch, server, max_response_bytes=100_000)
    assert server.served[fault] > 0, "the server did get the key"
    assert shown
    assert KEY not in shown
    assert KEY not in caplog.text
    if fault in (Fault.ECHO_KEY, Fault.ECHO_KEY_500):
        assert "Refused: Bearer ***" in shown


async def test_retries_are_logged_without_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with ChatServer(script=[Fault.ECHO_KEY_500]) as server:
        await ask(monkeypatch, server)
    assert "Bearer ***" in caplog.text
    assert KEY not in caplog.text


async def test_a_reply_that_quotes_it_does_not_carry_it_into_records_or_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with ChatServer(script=[Fault.ECHO_KEY_IN_REPLY]) as server:
        shown = await ask(monkeypatch, server, cache_dir=tmp_path)
    assert "Bearer *** ACTION: look" in shown
    (entry,) = entries(tmp_path)
    assert KEY not in entry
    assert "***" in entry


async def test_a_word_in_place_of_a_key_is_not_cut_out_of_answers() -> None:
    async with ChatServer() as server:
        client = OpenAIChat(
            OpenAISettings(model="m", base_url=server.url, api_key=SecretStr("EMPTY"))
        )
        reply = await client.complete([Message(role="user", content="the box is EMPTY")])
        await client.close()
    assert reply.text == "the box is EMPTY"


async def test_the_key_is_not_sent_on_to_another_host(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ChatServer(script=[Fault.REDIRECT]) as server:
        shown = await ask(monkeypatch, server)
    assert "redirects to http://127.0.0.1:9/v1" in shown
    assert server.count == 1


@pytest.mark.parametrize("before", ["", "user:", "Bearer ", "x"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_key_is_found_in_base64_too(before: str, encode: Callable[[bytes], bytes]) -> None:
    key = "sk-abcDEF1234567890xyz"
    packed = encode(f"{before}{key}/more".encode()).decode()
    shown = Redactor(key).reply(f"you sent {packed}")
    assert Redactor.MASK in shown
    left = base64.b64decode(shown.removeprefix("you sent ").partition(Redactor.MASK)[0] + "====")
    assert key[:4] not in left.decode("latin-1")
