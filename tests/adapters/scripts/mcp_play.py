"""Plays two tasks with the real MCP client, 1.x or 2.x, over stdio or HTTP, and says what it saw.

Arguments: `stdio COMMAND …` or `http URL`. The first game is won by asking for the
possible commands of a plan given in $PLAN, the second is lost on purpose.
"""

import asyncio
import json
import os
import sys

PLAN = json.loads(os.environ["PLAN"])


async def play(call, tools, about):
    said = {"tools": sorted(tools), "instructions": bool(about)}
    said["early"] = (await call("act", {"command": "look"}))[2]
    text, data, _ = await call("start", {})
    said["goal"] = data["goal"]
    said["task"] = data["task_id"]
    said["again"] = (await call("observe", {}))[1]["observation"] == data["observation"]
    for command in PLAN:
        text, data, _ = await call("act", {"command": command})
    said["won"] = [data["won"], data["done"], data["reward"], data["end"], "task solved" in text]
    said["after"] = (await call("act", {"command": "look"}))[2]
    data = (await call("start", {}))[1]
    said["malformed"] = (await call("act", {"order": "look"}))[0]
    while not data["done"] or "end" not in data or data["end"] == "solved":
        text, data, _ = await call("act", {"command": "look"})
    said["limit"] = [data["done"], data.get("end")]
    print(json.dumps(said))


async def with_session(session):
    about = await session.initialize()

    async def call(name, arguments):
        result = await session.call_tool(name, arguments)
        data = getattr(result, "structuredContent", None) or result.structured_content
        error = getattr(result, "isError", None)
        return result.content[0].text, data, result.is_error if error is None else error

    tools = [tool.name for tool in (await session.list_tools()).tools]
    await play(call, tools, getattr(about, "instructions", None))


async def main():
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    kind, *rest = sys.argv[1:]
    if kind == "stdio":
        server = StdioServerParameters(command=rest[0], args=rest[1:], env=dict(os.environ))
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await with_session(session)
        return
    try:
        from mcp.client import Client
    except ImportError:
        from mcp.client.streamable_http import streamablehttp_client

        async with (
            streamablehttp_client(rest[0]) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await with_session(session)
        return
    async with Client(rest[0]) as client:

        async def call(name, arguments):
            result = await client.call_tool(name, arguments)
            return result.content[0].text, result.structured_content, result.is_error

        tools = [tool.name for tool in (await client.list_tools()).tools]
        await play(call, tools, client.instructions)


asyncio.run(main())
