"""Keys of every provider show up nowhere, whatever a server or a proxy throws back."""

import asyncio
import base64
import logging
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web
from wires import ACT, KEY, Wire, all_wires, talking

from agentquest.llms.failures import ModelFailure
from agentquest.llms.openai_chat import OpenAIChat, OpenAISettings
from agentquest.records.messages import Message
from chat_faults import Fault

HELLO = [Message(role="user", content="ACTION: look")]


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and everything that hangs on it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def shown(failure: BaseException) -> str:
    whole = "".join(traceback.TracebackException.from_exception(failure).format())
    return whole + "".join(repr(e) + str(e) + repr(vars(e)) for e in chain(failure))


def entries(folder: Path) -> list[str]:
    return [path.read_text() for path in folder.rglob("*.json")]


@all_wires
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "fault", [Fault.ECHO_KEY, Fault.ECHO_KEY_500, Fault.UNAUTHORIZED, Fault.CONTEXT]
)
async def test_no_failure_shows_it(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    wire: Wire,
    fault: Fault,
    stream: bool,
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    asyncio.get_running_loop().set_debug(True)
    settings = {"api_key_env": "SOME_KEY", "max_retries": 1, "stream": stream}
    async with talking(wire, script=[fault] * 9, right_key=KEY, **settings) as (client, server):
        with pytest.raises(ModelFailure) as called:
            await client.complete(HELLO, tools=(ACT,))
        with pytest.raises(ModelFailure) as tried:
            await client.preflight()
        told = shown(called.value) + shown(tried.value) + repr(client) + repr(client.status())
        told += repr(client.settings) + client.settings.model_dump_json() + repr(client._redact)
    assert server.count > 1
    assert KEY not in told
    assert KEY not in caplog.text
    if fault in (Fault.ECHO_KEY, Fault.ECHO_KEY_500):
        assert "***" in str(called.value)


@all_wires
@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_that_quotes_it_does_not_carry_it_on(
    wire: Wire, stream: bool, tmp_path: Path
) -> None:
    if wire.name == "openai" and stream:
        pytest.skip("the chat server does not stream this fault")
    script = [Fault.ECHO_KEY_IN_REPLY]
    async with talking(wire, script=script, api_key=KEY, stream=stream, cache_dir=tmp_path) as (
        client,
        _,
    ):
        reply = await client.complete(HELLO)
    assert "***" in reply.text
    assert KEY not in repr(reply) + reply.model_dump_json() + repr(reply.message)
    (entry,) = entries(tmp_path)
    assert KEY not in entry


async def test_a_proxy_s_password_is_shown_neither_plain_nor_as_it_is_sent(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    password = "p%40ss-word-nobody-may-see"

    async def refuse(request: web.Request) -> web.Response:
        sent = request.headers.get("Proxy-Authorization", "")
        return web.json_response({"error": f"Not {sent}, not {password}"}, status=407)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", refuse)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, f"http://user:{password}@127.0.0.1:{port}")
    client = OpenAIChat(OpenAISettings(model="m", base_url="http://model.example/v1"))
    try:
        with pytest.raises(ModelFailure) as caught:
            await client.complete(HELLO)
    finally:
        await client.close()
        await runner.cleanup()
    sent = base64.b64encode(b"user:p@ss-word-nobody-may-see").decode()
    told = shown(caught.value) + caplog.text
    assert "407: Not Basic ***, not ***" in told
    assert password not in told
    assert sent not in told
    assert "p@ss-word" not in told
