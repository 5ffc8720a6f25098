"""A chat completion in the chunks of a stream."""

from typing import Any

from llm_servers.base import halves


def chat_chunks(completion: dict[str, Any]) -> list[dict[str, Any]]:
    (choice,) = completion["choices"]
    message = choice["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for name in ("reasoning_content", "content", "refusal"):
        deltas += [{name: piece} for piece in halves(message.get(name) or "") if piece]
    for index, call in enumerate(message.get("tool_calls", [])):
        first, second = halves(call["function"]["arguments"])
        function = {"name": call["function"]["name"], "arguments": first}
        deltas.append({"tool_calls": [{**call, "index": index, "function": function}]})
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": second}}]})
    common = {name: completion[name] for name in ("id", "created", "model")}
    chunk = {**common, "object": "chat.completion.chunk"}
    chunks = [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    chunks.append({**chunk, "choices": [end]})
    if "usage" in completion:
        chunks.append({**chunk, "choices": [], "usage": completion["usage"]})
    return chunks
