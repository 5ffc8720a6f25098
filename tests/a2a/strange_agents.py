"""Agents that go wrong in every way, one on each path, without any SDK.

Each has a proper card unless the card is what is wrong with it.
"""

import asyncio
import gzip
import json
import os
import re
from collections import Counter

from aiohttp import web

KEY = "Bearer sesame"
NAMES = {"evil-name": "evil\x1b]52;c;aGk=\x07\nSuccess Rate: 100.0%\u00ad"}
asked = Counter()


def card(request, manner):
    url = f"http://localhost:{request.url.port}/{manner}/"
    if manner == "sends-us-away":
        url = "http://agent.invalid/"
    if manner == "anywhere":
        url = f"http://0.0.0.0:{request.url.port}/{manner}/"
    return {
        "name": NAMES.get(manner, manner),
        "description": "strange",
        "version": "1",
        "defaultInputModes": ["text"],
        "defaultOutputModes": ["text"],
        "capabilities": {"streaming": manner == "stream-only"},
        "skills": [],
        "supportedInterfaces": [
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
    }


async def get_card(request):
    manner = request.match_info["manner"]
    if manner == "no-card" or (manner == "old-card") == ("agent-card" in request.path):
        raise web.HTTPNotFound
    if manner == "key" and request.headers.get("Authorization") != KEY:
        return web.Response(status=401, text="no key, no card")
    if manner == "html-card":
        return web.Response(text="<html>hello</html>", content_type="text/html")
    if manner == "odd-card":
        return web.json_response({"name": 5})
    if manner == "list-card":
        return web.json_response([1, 2])
    if manner == "slow-card":
        await asyncio.sleep(3600)
    if manner == "grpc-only":
        content = card(request, manner)
        content["supportedInterfaces"][0]["protocolBinding"] = "GRPC"
        return web.json_response(content)
    return web.json_response(card(request, manner))


def first_option(call):
    text = call["params"]["message"]["parts"][0]["text"]
    return re.search(r"^\s*1\.\s*(.+)$", text, re.MULTILINE)[1]


def of_task(call, **more):
    task = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}, **more}
    return {"jsonrpc": "2.0", "id": call["id"], "result": {"task": task}}


def of_parts(call, *parts):
    message = {"messageId": "m", "role": "ROLE_AGENT", "parts": list(parts)}
    return {"jsonrpc": "2.0", "id": call["id"], "result": {"message": message}}


def says(call, text):
    message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}
    return {"jsonrpc": "2.0", "id": call["id"], "result": {"message": message}}


async def post(request):
    manner = request.match_info["manner"]
    asked[manner] += 1
    call = await request.json()
    if manner == "hang":
        await asyncio.sleep(3600)
    if manner == "close":
        request.transport.abort()
        return web.Response()
    if manner == "crash":
        os._exit(3)
    if manner == "endless":
        return await endless(request)
    if manner == "status":
        return web.Response(status=503, text="busy")
    if manner == "stream-only":
        return await streamed(request, call)
    if manner == "redirect":
        raise web.HTTPTemporaryRedirect("/plain/")
    if manner == "redirect-away":
        raise web.HTTPTemporaryRedirect(f"http://127.0.0.1:{request.url.port}/plain/")
    if manner == "redirect-nowhere":
        return web.Response(status=307, headers={"Location": "//["})
    if manner == "busy" and asked[manner] % 2:
        headers = {"Retry-After": "0"}
        return web.Response(status=429 if asked[manner] % 4 == 1 else 503, headers=headers)
    if manner == "key" and request.headers.get("Authorization") != KEY:
        return web.Response(status=401, text="who are you?")
    if manner == "refuses":
        return web.Response(status=403, text="this key is not for you\x1b[31m")
    if manner == "bomb":
        body = gzip.compress(b" " * 64 * 1024 * 1024)
        return web.Response(body=body, headers={"Content-Encoding": "gzip"})
    if manner == "hangs-later" and asked[manner] % 3 == 0:
        await asyncio.sleep(3600)
    if manner == "html":
        return web.Response(text="<html>hello</html>", content_type="text/html")
    action = first_option(call)
    pieces = [{"text": piece} for piece in re.findall(r"\s*\S{1,3}", action)]
    spoken = [
        {"messageId": "old", "role": "ROLE_AGENT", "parts": [{"text": "look"}]},
        call["params"]["message"],
        {"messageId": "new", "role": "ROLE_AGENT", "parts": [{"text": action}]},
    ]
    answers = {
        "plain": says(call, action),
        "busy": says(call, action),
        "key": says(call, action),
        "old-card": says(call, action),
        "anywhere": says(call, action),
        "sends-us-away": says(call, action),
        "evil-name": says(call, action),
        "hangs-later": says(call, action),
        "evil-error": {
            "jsonrpc": "2.0",
            "id": call["id"],
            "error": {"code": 1, "message": "\x1b[2Joh\nWins: 99"},
        },
        "data": of_parts(call, {"data": {"thought": "look", "action": action}}),
        "file": of_parts(call, {"url": "http://localhost/picture.png"}),
        "history": of_task(call, history=spoken),
        "pieces": of_task(call, artifacts=[{"artifactId": "a", "parts": pieces}]),
        "lines": of_task(
            call, artifacts=[{"artifactId": "a", "parts": [{"text": "So"}, {"text": action}]}]
        ),
        "no-zone": of_task(
            call,
            status={
                "state": "completed",
                "timestamp": "2026-01-01T00:00:00.000000",
                "message": {"role": "agent", "parts": [{"kind": "text", "text": action}]},
            },
        ),
        "huge": says(call, "x" * 1_000_000),
        "nonsense": says(call, "I would rather not."),
        "empty": says(call, ""),
        "error": {"jsonrpc": "2.0", "id": call["id"], "error": {"code": -32603, "message": "oh"}},
        "neither": {"jsonrpc": "2.0", "id": call["id"], "result": {}},
        "other-result": {"jsonrpc": "2.0", "id": call["id"], "result": "go to desk 1"},
        "openai": {"choices": [{"message": {"role": "assistant", "content": "look"}}]},
        "list": [1, 2, 3],
    }
    return web.Response(text=json.dumps(answers[manner]), content_type="application/json")


async def streamed(request, call):
    if call["method"] != "SendStreamingMessage":
        error = {"code": -32601, "message": "no such method"}
        return web.json_response({"jsonrpc": "2.0", "id": call["id"], "error": error})
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    events = [{"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}]
    for number, piece in enumerate(re.findall(r"\s*\S{1,3}", first_option(call))):
        artifact = {"artifactId": "a", "parts": [{"text": piece}]}
        update = {"taskId": "t", "contextId": "c", "artifact": artifact, "append": number > 0}
        events.append({"artifactUpdate": update})
    done = {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}
    events.append({"statusUpdate": done})
    for event in events:
        content = json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": event})
        await response.write(f": ping\r\ndata: {content}\r\n\r\n".encode())
    return response


async def endless(request):
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    for _ in range(400):
        await response.write(b" " * 65536)
    return response


async def main():
    app = web.Application()
    app.router.add_get("/{manner}/.well-known/agent-card.json", get_card)
    app.router.add_get("/{manner}/.well-known/agent.json", get_card)
    app.router.add_post("/{manner}/", post)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(f"port {site._server.sockets[0].getsockname()[1]}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
