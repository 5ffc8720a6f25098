"""An agent built with pydantic-ai, over any server of chat completions.

    pip install /path/to/clone 'pydantic-ai-slim[openai]'
    agentquest eval agent.name=pydantic_ai_agent:PydanticAgent agent.model=qwen3-8b \\
        agent.base_url=http://127.0.0.1:8000/v1 data_path=builtin num_games=12

Run it in this folder, or with this folder on PYTHONPATH. The framework runs its own loop; its tool
is the game: each call is a step of the episode, and what it returns is the next observation.
"""

import os

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

from agentquest.lib import Episode, LoopAgent, Settings
from agentquest.lib.loop_agent import Act


class ModelSettings(Settings):
    model: str
    """The model, as its server knows it."""

    base_url: str = "http://127.0.0.1:8000/v1"
    """A server that speaks chat completions."""

    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; unset sends a dummy."""


class PydanticAgent(LoopAgent):
    Settings = ModelSettings

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings

    async def play(self, episode: Episode, first: str, act: Act) -> None:
        key = os.environ.get(self._settings.api_key_env, "none")
        provider = OpenAIProvider(base_url=self._settings.base_url, api_key=key)
        player = Agent(
            OpenAIChatModel(self._settings.model, provider=provider),
            instructions=episode.briefing.instructions,
        )

        @player.tool_plain(name="act")
        async def act_tool(command: str) -> str:
            """Carry out one command in the environment and see what happens."""
            return await act(command)

        limits = UsageLimits(request_limit=episode.max_steps + 1)
        task = f"Goal: {episode.goal}\n\nObservation: {first}"
        async with player.iter(task, usage_limits=limits) as run:
            async for node in run:
                if Agent.is_call_tools_node(node):
                    reply = node.model_response
                    self.report_usage(reply.usage, model=reply.model_name or "")
