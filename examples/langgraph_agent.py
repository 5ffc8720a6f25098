"""An agent built in LangGraph: a model node, a tool node, and an edge back.

    pip install /path/to/clone langgraph langchain-openai
    agentquest eval agent.name=langgraph_agent:LangGraphAgent agent.model=qwen3-8b \\
        agent.base_url=http://127.0.0.1:8000/v1 data_path=builtin num_games=12

Run it in this folder, or with this folder on PYTHONPATH. The graph's tool is the game: each call
is a step of the episode, and what it returns is the next observation.
"""

import os
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.outputs import LLMResult
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from agentquest.lib import Episode, LoopAgent, Settings
from agentquest.lib.loop_agent import Act


class ModelSettings(Settings):
    model: str
    """The model, as its server knows it."""

    base_url: str = "http://127.0.0.1:8000/v1"
    """A server that speaks chat completions."""

    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; unset sends a dummy."""


class UsageCallback(BaseCallbackHandler):
    """Reports every model call of the graph, whichever node makes it."""

    def __init__(self, agent: LoopAgent) -> None:
        self._agent = agent

    def on_llm_end(self, response: LLMResult, **more: Any) -> None:
        for message in (batch[0].message for batch in response.generations):
            name = message.response_metadata.get("model_name", "")
            self._agent.report_usage(message.usage_metadata, model=name)


class LangGraphAgent(LoopAgent):
    Settings = ModelSettings

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings

    async def play(self, episode: Episode, first: str, act: Act) -> None:
        @tool("act")
        async def act_tool(command: str) -> str:
            """Carry out one command in the environment and see what happens."""
            return await act(command)

        chat = ChatOpenAI(
            model=self._settings.model,
            base_url=self._settings.base_url,
            api_key=os.environ.get(self._settings.api_key_env, "none"),
        ).bind_tools([act_tool])

        async def think(state: MessagesState) -> dict[str, list[object]]:
            return {"messages": [await chat.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("think", think)
        graph.add_node("tools", ToolNode([act_tool], handle_tool_errors=False))
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", tools_condition)
        graph.add_edge("tools", "think")
        messages = [
            SystemMessage(episode.briefing.instructions),
            HumanMessage(f"Goal: {episode.goal}\n\nObservation: {first}"),
        ]
        limit = 2 * episode.max_steps + 2
        config = {"recursion_limit": limit, "callbacks": [UsageCallback(self)]}
        await graph.compile().ainvoke({"messages": messages}, config)
