"""The four wire formats: our client of each, and the server that it talks to."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest

from agentquest.llms.anthropic import AnthropicMessages
from agentquest.llms.client import HttpModel
from agentquest.llms.gemini import GeminiModel
from agentquest.llms.openai_chat import OpenAIChat
from agentquest.llms.openai_responses import OpenAIResponses
from agentquest.records.messages import ToolSpec
from chat_faults import Fault
from chat_server import ChatServer
from llm_servers.anthropic_messages import AnthropicServer
from llm_servers.base import WireServer
from llm_servers.gemini import GeminiServer
from llm_servers.responses import ResponsesServer
from said import Answer, echo

KEY = "sk-a-key-that-nobody-may-see"
ACT = ToolSpec(
    name="act",
    description="Do something.",
    parameters={
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
    command="<command>",
)


class Wire(NamedTuple):
    name: str
    model: type[HttpModel]
    server: Any


WIRES = [
    Wire("openai", OpenAIChat, ChatServer),
    Wire("responses", OpenAIResponses, ResponsesServer),
    Wire("anthropic", AnthropicMessages, AnthropicServer),
    Wire("gemini", GeminiModel, GeminiServer),
]
all_wires = pytest.mark.parametrize("wire", WIRES, ids=[wire.name for wire in WIRES])


@asynccontextmanager
async def talking(
    wire: Wire,
    answer: Answer = echo,
    script: Sequence[Fault | None] = (),
    right_key: str | None = None,
    **fields: Any,
) -> AsyncIterator[tuple[HttpModel, "WireServer | ChatServer"]]:
    """A client and the server it talks to; it does not wait between tries."""
    async with wire.server(answer, script=script, api_key=right_key) as server:
        given = {"model": "m", "base_url": server.url, "wait_interval": 0.0, **fields}
        if "api_key" not in given and "api_key_env" not in given:
            given["api_key_env"] = None
        client = wire.model(wire.model.Settings(**given), rng=random.Random(1))
        try:
            yield client, server
        finally:
            await client.close()
