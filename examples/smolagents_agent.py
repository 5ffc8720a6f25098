"""An agent built with smolagents, over any server of chat completions.

    pip install /path/to/clone 'smolagents[openai]'
    agentquest eval agent.name=smolagents_agent:SmolAgent agent.model=qwen3-8b \\
        agent.base_url=http://127.0.0.1:8000/v1 data_path=builtin num_games=12

Run it in this folder, or with this folder on PYTHONPATH. smolagents runs its own loop, in a thread
as it is not asynchronous; its tool is the game: each call is a step of the episode, and what it
returns is the next observation.
"""

import asyncio
import os
from typing import Any

from smolagents import ChatMessage, LogLevel, OpenAIModel, Tool, ToolCallingAgent

from agentquest.lib import Episode, LoopAgent, Settings
from agentquest.lib.loop_agent import Act


class ModelSettings(Settings):
    model: str
    """The model, as its server knows it."""

    base_url: str = "http://127.0.0.1:8000/v1"
    """A server that speaks chat completions."""

    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; unset sends a dummy."""


class ActTool(Tool):
    name = "act"
    description = "Carry out one command in the environment and see what happens."
    inputs = {"command": {"type": "string", "description": "The command, as it would be typed."}}  # noqa: RUF012
    output_type = "string"

    def __init__(self, act: Act, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._act = act
        self._loop = loop

    def forward(self, command: str) -> str:
        return asyncio.run_coroutine_threadsafe(self._act(command), self._loop).result()


class SmolAgent(LoopAgent):
    Settings = ModelSettings

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._player: ToolCallingAgent | None = None

    async def play(self, episode: Episode, first: str, act: Act) -> None:
        key = os.environ.get(self._settings.api_key_env, "none")
        model = OpenAIModel(self._settings.model, api_base=self._settings.base_url, api_key=key)
        self._player = ToolCallingAgent(
            tools=[ActTool(act, asyncio.get_running_loop())],
            model=model,
            instructions=episode.briefing.instructions,
            max_steps=episode.max_steps + 1,
            verbosity_level=LogLevel.OFF,
        )
        generate = model.generate

        def generate_and_report(*given: Any, **more: Any) -> ChatMessage:
            said = generate(*given, **more)
            self.report_usage(said.token_usage, model=self._settings.model)
            return said

        model.generate = generate_and_report
        task = f"Goal: {episode.goal}\n\nObservation: {first}"
        await asyncio.to_thread(self._player.run, task)

    async def close(self) -> None:
        if self._player is not None:
            self._player.interrupt()  # its thread ends instead of asking its model again
        await super().close()
