"""A key of any provider in a whole run: not on disk, in logs, reports, nor on a command line."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from wires import KEY, Wire, all_wires

from agentquest.config import load_config
from agentquest.errors import ConfigError
from agentquest.llms.failures import ModelFailure
from agentquest.records.messages import Message
from agentquest.store.folder import RunFolder
from chat_faults import Fault

ODD = [None, Fault.ECHO_KEY_500, None, Fault.ECHO_KEY_IN_REPLY, Fault.ECHO_KEY_500]


def command_lines() -> str:
    """What `ps` shows of all processes."""
    shown = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            shown.append(process.read_bytes().decode(errors="replace"))
        except OSError:  # it has ended meanwhile
            continue
    return "\n".join(shown)


async def agentquest(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """A command's exit code and output, and all command lines while it ran."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "agentquest", *arguments),
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "A_KEY": KEY},
        stdout=pipe,
        stderr=asyncio.subprocess.STDOUT,
    )
    reading = asyncio.ensure_future(process.communicate())
    lines = ""
    while not reading.done():
        lines += command_lines()
        await asyncio.wait({reading}, timeout=0.3)
    said, _ = await reading
    return process.returncode or 0, said.decode(), lines


@pytest.mark.long
@all_wires
async def test_a_run_keeps_it_to_itself(wire: Wire, tmp_path: Path) -> None:
    async with wire.server(script=ODD, api_key=KEY) as server:
        code, said, lines = await agentquest(
            tmp_path,
            *("eval", f"llm.provider={wire.name}", "llm.model=m", f"llm.base_url={server.url}"),
            *("llm.api_key_env=A_KEY", "llm.wait_interval=0.01", "llm.cache_dir=kept"),
            *("data_path=builtin", "num_games=1", "max_steps=4", "debug=true", "run_name=r"),
            *("executor=processes", "executor.workers=1"),
        )
    assert code == 0, said
    assert server.count > 4
    (record,) = RunFolder(tmp_path / "runs" / "r").records()
    assert any("***" in step.reply for step in record.steps), "the echo really came"
    code, report, _ = await agentquest(tmp_path, "report", "runs/r", "-f", "html")
    assert code == 0, report
    assert "llm.provider" in lines, "it was looked at while it ran"
    assert KEY not in said + report + lines
    assert files_with_it(tmp_path) == []


def files_with_it(folder: Path) -> list[Path]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert {"run.log", "index.html", "episodes.jsonl"} <= {file.name for file in files}
    return [file for file in files if KEY.encode() in file.read_bytes()]


@asynccontextmanager
async def echoing_in_headers(status: int) -> AsyncIterator[str]:
    """A server that sends every header of a request back in its own."""

    async def answer(request: web.Request) -> web.Response:
        sent = " ".join(request.headers.values())
        headers = {
            "Location": f"http://127.0.0.1:9/?key={sent}",
            "Retry-After": sent,
            "X-Sent": sent,
        }
        return web.Response(status=status, headers=headers)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


@all_wires
@pytest.mark.parametrize("status", [302, 401, 404, 500])
async def test_a_header_that_is_sent_back_is_masked(
    wire: Wire, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    async with echoing_in_headers(status) as url:
        given = {"model": "m", "base_url": url, "api_key": KEY}
        client = wire.model(wire.model.Settings(**given, max_retries=1, wait_interval=0.0))
        with pytest.raises(ModelFailure) as asked:
            await client.complete([Message(role="user", content="hello")])
        with pytest.raises(ModelFailure) as tried:
            await client.preflight()
        told = f"{asked.value!r} {tried.value!r} {client.status()!r} {caplog.text}"
        await client.close()
    assert KEY not in told
    if status == 302:
        assert "***" in str(asked.value)


@all_wires
def test_a_password_in_an_address_is_refused_unseen(wire: Wire) -> None:
    words = [f"llm.provider={wire.name}", "model=m", f"base_url=https://user:{KEY}@host.example/v1"]
    with pytest.raises(ConfigError, match="must not contain a user, password") as refused:
        load_config(None, words)
    assert KEY not in f"{refused.value} {refused.value!r}"
    assert refused.value.__context__ is None or KEY not in repr(refused.value.__context__)
