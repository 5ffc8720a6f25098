"""A chat-completions server that answers whole or as a stream, as harnesses of others want it.

`python streaming_chat_server.py MODULE:FUNCTION` prints its address; the function makes an
answer from the messages.
"""

import asyncio
import importlib
import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from aiohttp import web


def _application(answer):
    async def complete(request):
        body = await request.json()
        text = answer(body["messages"])
        head = {"id": "chat-1", "created": 0, "model": body["model"]}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not body.get("stream"):
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            kind = {"object": "chat.completion", "choices": [choice], "usage": usage}
            return web.json_response({**head, **kind})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        parts = [({"role": "assistant", "content": text}, None), ({}, "stop")]
        for delta, reason in parts:
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            chunk = {**head, "object": "chat.completion.chunk", "choices": [choice]}
            if reason:
                chunk["usage"] = usage
            await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response

    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/v1/chat/completions", complete)
    return app


@contextmanager
def chatting(answer):
    """Such a server in a process of its own; gives its address."""
    command = [sys.executable, str(Path(__file__).resolve()), answer]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


async def _serve(answer):
    runner = web.AppRunner(_application(answer))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    print(f"http://127.0.0.1:{port}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    module, _, name = sys.argv[1].partition(":")
    asyncio.run(_serve(getattr(importlib.import_module(module), name)))
