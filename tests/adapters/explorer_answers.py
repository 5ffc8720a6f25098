"""A chat model that is the rule-based player: answers follow from the conversation alone.

For `chat_server.py --answer explorer_answers:answer`, so that a foreign harness and our
own evaluator ask the same player.
"""

import re

from agentquest.benchmarks.alfworld.explorer import AlfWorldExplorer

_GOAL = re.compile(r"^Goal: .*?\n\n", re.DOTALL)
_POSSIBLE = re.compile(r"\n\nPossible now: .*$", re.DOTALL)


def answer(messages):
    explorer = AlfWorldExplorer()
    command = "look"
    for message in messages:
        if message["role"] == "user":
            content = message["content"]
            if not isinstance(content, str):
                content = "".join(part.get("text", "") for part in content)
            seen = _POSSIBLE.sub("", _GOAL.sub("", content))
            command = explorer.next_action(seen)
    return f"Let me see.\nAction: {command}"
