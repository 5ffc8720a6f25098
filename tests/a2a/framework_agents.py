"""An agent of one framework, which answers with the first option; runs in its own environment.

framework_agents.py pydantic-ai | strands | strands-streaming | agent-framework | …-streaming
"""

import asyncio
import re
import socket
import sys

import uvicorn


def first_option(text):
    return re.findall(r"^\s*1\.\s*(.+)$", text, re.MULTILINE)[-1]


def pydantic_ai(url):
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    def answer(messages, info):
        return ModelResponse(parts=[TextPart(first_option(str(messages[-1].parts[-1].content)))])

    agent = Agent(FunctionModel(answer), name="pydantic-ai agent")
    if hasattr(agent, "to_a2a"):
        return agent.to_a2a(url=url)
    from fasta2a.pydantic_ai import agent_to_a2a

    return agent_to_a2a(agent, url=url)


def strands(url, streaming=False):
    from strands import Agent
    from strands.models import Model
    from strands.multiagent.a2a import A2AServer

    class Echo(Model):
        def update_config(self, **config):
            return None

        def get_config(self):
            return {}

        def structured_output(self, *args, **kwargs):
            raise NotImplementedError

        async def stream(self, messages, *args, **kwargs):
            action = first_option(messages[-1]["content"][0]["text"])
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": {}}}
            for piece in re.findall(r"\s*\S{1,3}", action):
                yield {"contentBlockDelta": {"delta": {"text": piece}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}

    def new_agent(context_id):
        return Agent(model=Echo(), name="strands agent", description="a", callback_handler=None)

    server = A2AServer(
        agent_factory=new_agent, http_url=url, enable_a2a_compliant_streaming=streaming
    )
    return server.to_starlette_app()


def agent_framework(url, streaming=False):
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
    from a2a.server.tasks import InMemoryTaskStore
    from a2a.types import AgentCapabilities, AgentCard, AgentInterface
    from agent_framework import (
        BaseChatClient,
        ChatResponse,
        ChatResponseUpdate,
        Content,
        Message,
        ResponseStream,
    )
    from agent_framework.a2a import A2AExecutor
    from starlette.applications import Starlette

    class Echo(BaseChatClient):
        def _inner_get_response(self, *, messages, stream, options, **kwargs):
            action = first_option(messages[-1].text)
            if stream:
                return ResponseStream(pieces(action), finalizer=ChatResponse.from_updates)

            async def whole():
                return ChatResponse(messages=[Message("assistant", [action])])

            return whole()

    async def pieces(action):
        for piece in re.findall(r"\s*\S{1,3}", action):
            yield ChatResponseUpdate(contents=[Content.from_text(piece)], role="assistant")

    card = AgentCard(
        name="agent-framework agent",
        description="a",
        version="1",
        default_input_modes=["text"],
        default_output_modes=["text"],
        capabilities=AgentCapabilities(streaming=True),
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC")],
        skills=[],
    )
    executor = A2AExecutor(Echo().as_agent(name="agent"), stream=streaming)
    handler = DefaultRequestHandler(executor, InMemoryTaskStore(), card)
    return Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])


def google_adk(url):
    from google.adk.a2a.utils.agent_to_a2a import to_a2a
    from google.adk.agents import LlmAgent
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.genai import types

    class Echo(BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            said = "".join(part.text or "" for part in llm_request.contents[-1].parts)
            parts = [types.Part(text=first_option(said))]
            used = types.GenerateContentResponseUsageMetadata(
                prompt_token_count=20, candidates_token_count=5, thoughts_token_count=3
            )
            content = types.Content(role="model", parts=parts)
            yield LlmResponse(content=content, usage_metadata=used)

    agent = LlmAgent(name="agent", model=Echo(model="echo"), instruction="Play.")
    return to_a2a(agent, port=int(url.rpartition(":")[2].strip("/")))


def crewai(url):
    from a2a.server.agent_execution import AgentExecutor
    from a2a.server.apps import A2AStarletteApplication
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.tasks import InMemoryTaskStore
    from crewai import Agent, BaseLLM
    from crewai.a2a import A2AServerConfig
    from crewai.a2a.utils.task import execute

    class Echo(BaseLLM):
        def call(self, messages, *args, **kwargs):
            said = messages if isinstance(messages, str) else str(messages[-1]["content"])
            return f"Thought: I now know the answer\nFinal Answer: {first_option(said)}"

    agent = Agent(
        role="player",
        goal="play",
        backstory="plays",
        llm=Echo(model="echo"),
        a2a=A2AServerConfig(url=url),
    )

    class Executor(AgentExecutor):
        async def execute(self, context, event_queue):
            await execute(agent, context, event_queue)

        async def cancel(self, context, event_queue):
            return None

    handler = DefaultRequestHandler(Executor(), InMemoryTaskStore())
    return A2AStarletteApplication(agent.to_agent_card(url), handler).build()


FRAMEWORKS = {
    "google-adk": google_adk,
    "crewai": crewai,
    "pydantic-ai": pydantic_ai,
    "strands": strands,
    "strands-streaming": lambda url: strands(url, streaming=True),
    "agent-framework": agent_framework,
    "agent-framework-streaming": lambda url: agent_framework(url, streaming=True),
}

if __name__ == "__main__":
    sock = socket.create_server(("127.0.0.1", 0))
    port = sock.getsockname()[1]
    app = FRAMEWORKS[sys.argv[1]](f"http://localhost:{port}/")
    print(f"port {port}", flush=True)
    asyncio.run(uvicorn.Server(uvicorn.Config(app, log_level="error")).serve(sockets=[sock]))
