"""An A2A agent of your own, to be tested by the green agent.

    python examples/custom_white_agent.py --port 9002
    agentquest launch --agent-url http://localhost:9002/

It needs nothing of AgentQuest but `new_agent_text_message`, which the A2A SDK
had until version 1 (there as `a2a.utils.new_agent_text_message`).
"""

import argparse

import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette

from agentquest.a2a import new_agent_text_message


def decide_action(user_input: str) -> str:
    """Your reasoning goes here; this one takes the last action offered."""
    numbered = (line.strip().partition(". ") for line in user_input.splitlines())
    actions = [action for number, _, action in numbered if number.isdecimal() and action]
    return actions[-1] if actions else "look"


class MyCustomAgent(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        user_input = context.get_user_input()

        action = decide_action(user_input)

        # One game is one context_id: keep what you remember of a game under it.
        await event_queue.enqueue_event(
            new_agent_text_message(action, context_id=context.context_id)
        )

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Nothing runs on after an answer, so there is nothing to cancel."""


def agent_card(url: str) -> AgentCard:
    return AgentCard(
        name="My custom agent",
        description="Takes the last action offered.",
        version="1.0.0",
        default_input_modes=["text"],
        default_output_modes=["text"],
        capabilities=AgentCapabilities(streaming=True),
        skills=[AgentSkill(id="play", name="Play", description="Plays games", tags=["games"])],
        # Both versions of the protocol, so that every green agent can talk to it.
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version)
            for version in ("1.0", "0.3")
        ],
    )


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--host", default="localhost")
    options.add_argument("--port", type=int, default=9002)
    options.add_argument("--card-url", default=None)
    given = options.parse_args()
    url = given.card_url or f"http://{given.host}:{given.port}/"
    card = agent_card(url)
    handler = DefaultRequestHandler(MyCustomAgent(), InMemoryTaskStore(), card)
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
    ]
    print(f"custom agent at {url} (port {given.port})", flush=True)
    # Without a limit, stopping waits for requests that are still being answered.
    uvicorn.run(
        Starlette(routes=routes),
        host=given.host,
        port=given.port,
        timeout_graceful_shutdown=2,
        log_level="warning",
    )


if __name__ == "__main__":
    main()
