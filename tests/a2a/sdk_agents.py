"""White agents on SDK 1.x, one on each path: a Message, a Task with artifact, input-required.

All of them answer with the first option. `/late/` answers at once with a task
that is still at work.
"""

import asyncio
import re
import socket
import sys

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette
from starlette.routing import Mount


def first_option(text):
    return re.search(r"^\s*1\.\s*(.+)$", text, re.MULTILINE)[1]


class Executor(AgentExecutor):
    def __init__(self, manner):
        self.manner = manner

    async def execute(self, context, event_queue):
        action = first_option(context.get_user_input())
        if self.manner == "message":
            await event_queue.enqueue_event(new_text_message(action, context_id=context.context_id))
            return
        task = context.current_task
        if task is None:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        said = updater.new_agent_message([new_text_part(action)])
        if self.manner == "artifact":
            await updater.add_artifact([new_text_part(action)], name="action")
            await updater.complete(updater.new_agent_message([new_text_part("done")]))
        elif self.manner == "status":
            await updater.complete(said)
        elif self.manner == "input":
            await updater.requires_input(said)
        elif self.manner == "input-artifact":
            await updater.add_artifact([new_text_part(action)], name="action")
            await updater.requires_input(updater.new_agent_message([new_text_part("your turn")]))
        elif self.manner == "late":
            await asyncio.sleep(0.2)
            await updater.complete(said)
        elif self.manner == "failed":
            await updater.failed(updater.new_agent_message([new_text_part("no brain")]))

    async def cancel(self, context, event_queue):
        return None


def app(manner, port, versions):
    url = f"http://localhost:{port}/{manner}/"
    card = AgentCard(
        name=manner,
        description="a test agent",
        version="1",
        default_input_modes=["text"],
        default_output_modes=["text"],
        capabilities=AgentCapabilities(streaming=True),
        skills=[AgentSkill(id="s", name="s", description="s", tags=["s"])],
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version)
            for version in versions
        ],
    )
    handler = DefaultRequestHandler(Executor(manner), InMemoryTaskStore(), card)
    return Starlette(
        routes=[
            *create_agent_card_routes(card),
            *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        ]
    )


MANNERS = ("message", "artifact", "status", "input", "input-artifact", "late", "failed")

if __name__ == "__main__":
    sock = socket.create_server(("127.0.0.1", 0))
    port = sock.getsockname()[1]
    root = Starlette(
        routes=[Mount(f"/{manner}", app(manner, port, sys.argv[1:])) for manner in MANNERS]
    )
    print(f"port {port}", flush=True)
    asyncio.run(uvicorn.Server(uvicorn.Config(root, log_level="error")).serve(sockets=[sock]))
