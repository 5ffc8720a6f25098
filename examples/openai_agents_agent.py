"""An agent built with the OpenAI Agents SDK, over any server of chat completions.

    pip install /path/to/clone openai-agents
    agentquest eval agent.name=openai_agents_agent:AgentsSdkAgent agent.model=qwen3-8b \\
        agent.base_url=http://127.0.0.1:8000/v1 data_path=builtin num_games=12

Run it in this folder, or with this folder on PYTHONPATH. The SDK runs its own loop; its tool is
the game: each call is a step of the episode, and what it returns is the next observation.
"""

import os
from typing import Any

from agents import (
    Agent,
    ModelResponse,
    OpenAIChatCompletionsModel,
    RunConfig,
    RunHooks,
    Runner,
    function_tool,
)
from openai import AsyncOpenAI

from agentquest.lib import Episode, LoopAgent, Settings
from agentquest.lib.loop_agent import Act


class ModelSettings(Settings):
    model: str
    """The model, as its server knows it."""

    base_url: str = "http://127.0.0.1:8000/v1"
    """A server that speaks chat completions."""

    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; unset sends a dummy."""


class UsageHooks(RunHooks):
    """Reports every model call of the run."""

    def __init__(self, agent: LoopAgent, model: str) -> None:
        self._agent = agent
        self._model = model

    async def on_llm_end(self, context: Any, agent: Any, response: ModelResponse) -> None:
        self._agent.report_usage(response.usage, model=self._model)


class AgentsSdkAgent(LoopAgent):
    Settings = ModelSettings

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings

    async def play(self, episode: Episode, first: str, act: Act) -> None:
        @function_tool(name_override="act", failure_error_function=None)
        async def act_tool(command: str) -> str:
            """Carry out one command in the environment and see what happens."""
            return await act(command)

        key = os.environ.get(self._settings.api_key_env, "none")
        async with AsyncOpenAI(base_url=self._settings.base_url, api_key=key) as client:
            player = Agent(
                name="player",
                instructions=episode.briefing.instructions,
                model=OpenAIChatCompletionsModel(self._settings.model, client),
                tools=[act_tool],
            )
            await Runner.run(
                player,
                f"Goal: {episode.goal}\n\nObservation: {first}",
                max_turns=episode.max_steps + 1,
                run_config=RunConfig(tracing_disabled=True),
                hooks=UsageHooks(self, self._settings.model),
            )
