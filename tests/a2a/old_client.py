"""Asks a green agent with the client of SDK 0.3, as AgentBeats does; prints what came as JSON.

old_client.py GREEN_URL stream|wait|cancel REQUEST
"""

import asyncio
import json
import sys
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import DataPart, Message, Part, Role, TaskIdParams, TaskState, TextPart


async def main(url, manner, text):
    async with httpx.AsyncClient(timeout=120) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        config = ClientConfig(httpx_client=http, streaming=manner != "wait")
        client = ClientFactory(config).create(card)
        message = Message(
            role=Role.user, message_id=uuid4().hex, parts=[Part(root=TextPart(text=text))]
        )
        updates = 0
        task = None
        async for event in client.send_message(message):
            task, update = event
            updates += update is not None
            if manner == "cancel" and updates == 2:
                task = await client.cancel_task(TaskIdParams(id=task.id))
                break
        parts = [part.root for artifact in task.artifacts or [] for part in artifact.parts]
        said = task.status.message
        print(
            json.dumps(
                {
                    "card": card.model_dump(mode="json", by_alias=True),
                    "state": TaskState(task.status.state).value,
                    "updates": updates,
                    "names": [artifact.name for artifact in task.artifacts or []],
                    "texts": [part.text for part in parts if isinstance(part, TextPart)],
                    "data": [part.data for part in parts if isinstance(part, DataPart)],
                    "said": said.parts[0].root.text if said else None,
                }
            )
        )


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
