"""Agents that go wrong in every way, one on each path, without any SDK.

Each has a proper card unless the card is what is wrong with it.
"""

import asyncio
import json
import os

from aiohttp import web


def card(request, manner):
    url = f"http://localhost:{request.url.port}/{manner}/"
    return {
        "name": manner,
        "description": "strange",
        "version": "1",
        "defaultInputModes": ["text"],
        "defaultOutputModes": ["text"],
        "capabilities": {},
        "skills": [],
        "supportedInterfaces": [
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
    }


async def get_card(request):
    manner = request.match_info["manner"]
    if manner == "no-card":
        raise web.HTTPNotFound
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


def says(call, text):
    message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}
    return {"jsonrpc": "2.0", "id": call["id"], "result": {"message": message}}


async def post(request):
    manner = request.match_info["manner"]
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
    if manner == "html":
        return web.Response(text="<html>hello</html>", content_type="text/html")
    answers = {
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


async def endless(request):
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    for _ in range(400):
        await response.write(b" " * 65536)
    return response


async def main():
    app = web.Application()
    app.router.add_get("/{manner}/.well-known/agent-card.json", get_card)
    app.router.add_post("/{manner}/", post)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(f"port {site._server.sockets[0].getsockname()[1]}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
