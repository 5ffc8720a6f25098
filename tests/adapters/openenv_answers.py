"""Answers to verifiers' openenv taskset: observations come as JSON, a plain reply is a command."""

import json

from agentquest.benchmarks.alfworld.explorer import AlfWorldExplorer


def answer(messages):
    explorer = AlfWorldExplorer()
    command = "look"
    for message in messages:
        if message["role"] == "user":
            content = message["content"]
            if not isinstance(content, str):
                content = "".join(part.get("text", "") for part in content)
            command = explorer.next_action(json.loads(content)["observation"]["text"])
    return command
