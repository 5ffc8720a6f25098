"""White agents on SDK 0.3, one on each path; runs in the environment of old_sdk.py."""

import asyncio
import re
import socket

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TaskState, TextPart
from a2a.utils import new_agent_text_message, new_task
from starlette.applications import Starlette
from starlette.routing import Mount


class Executor(AgentExecutor):
    def __init__(self, manner):
        self.manner = manner

    async def execute(self, context, event_queue):
        action = re.search(r"^\s*1\.\s*(.+)$", context.get_user_input(), re.MULTILINE)[1]
        if self.manner == "message":
            await event_queue.enqueue_event(
                new_agent_text_message(action, context_id=context.context_id)
            )
            return
        task = context.current_task
        if task is None:
            task = new_task(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        if self.manner == "artifact":
            await updater.add_artifact([Part(root=TextPart(text=action))], name="action")
            await updater.complete()
        else:
            said = new_agent_text_message(action, task.context_id, task.id)
            await updater.update_status(TaskState.input_required, said, final=True)

    async def cancel(self, context, event_queue):
        return None


def app(manner, port):
    card = AgentCard(
        name=manner,
        description="an old test agent",
        url=f"http://localhost:{port}/{manner}/",
        version="1",
        default_input_modes=["text"],
        default_output_modes=["text"],
        capabilities=AgentCapabilities(streaming=True),
        skills=[AgentSkill(id="s", name="s", description="s", tags=["s"])],
    )
    handler = DefaultRequestHandler(agent_executor=Executor(manner), task_store=InMemoryTaskStore())
    return A2AStarletteApplication(agent_card=card, http_handler=handler).build()


if __name__ == "__main__":
    sock = socket.create_server(("127.0.0.1", 0))
    port = sock.getsockname()[1]
    manners = ("message", "artifact", "input")
    root = Starlette(routes=[Mount(f"/{manner}", app(manner, port)) for manner in manners])
    print(f"port {port}", flush=True)
    asyncio.run(uvicorn.Server(uvicorn.Config(root, log_level="error")).serve(sockets=[sock]))
