"""A model server that costs almost nothing, so that it is the client that is measured.

Reads HTTP/1.1 by hand, waits the latency asked for without using a processor,
and answers with the next place to walk to, read out of the prompt: games go on
to their step limit, and every step changes the game. Speaks chat completions,
and the Responses, Messages and Gemini APIs by their paths; where a request has
tools, it answers with a call.

    python benchmarks/walking_chat_server.py 0.5 [REQUESTS_PER_MINUTE]

prints its address and serves until it is ended.
"""

import asyncio
import json
import re
import sys
import time

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_ROOM = re.compile(rb"Looking quickly around you, you see (.*?)\.\\n")
_PLACE = re.compile(rb"an? ([a-z]+ \d+)")
_HEAD_END = b"\r\n\r\n"
_THOUGHT = "I have not been everywhere yet."


class Limit:
    """So many requests in each minute; None for any number."""

    def __init__(self, per_minute: int | None) -> None:
        self._per_minute = per_minute
        self._minute = self._count = 0

    def allows_one_more(self) -> bool:
        if self._per_minute is None:
            return True
        minute = int(time.time() // 60)
        if minute != self._minute:
            self._minute, self._count = minute, 0
        self._count += 1
        return self._count <= self._per_minute


class Walker(asyncio.Protocol):
    """One connection; requests on it come one after the other."""

    def __init__(self, latency: float, limit: Limit) -> None:
        self._latency = latency
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._buffer = b""
        self._asked = 0
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head = self._buffer.find(_HEAD_END)
        if head < 0:
            return
        length = _LENGTH.search(self._buffer, 0, head)
        end = head + len(_HEAD_END) + (int(length[1]) if length else 0)
        if len(self._buffer) < end:
            return
        path = self._buffer[: self._buffer.find(b"\r\n")].split(b" ")[1]
        body, self._buffer = self._buffer[head:end], self._buffer[end:]
        if not self._limit.allows_one_more():
            self._transport.write(_response({"error": {"message": "Slow down."}}, b"429 Busy"))
            return
        response = _response(self._answer(path, body))
        if self._latency:
            self._loop.call_later(self._latency, self._transport.write, response)
        else:
            self._transport.write(response)

    def _answer(self, path: bytes, body: bytes) -> dict[str, object]:
        self._asked += 1
        rooms = _ROOM.findall(body)
        places = _PLACE.findall(rooms[-1]) if rooms else [b"nowhere 1"]
        command = f"go to {places[self._asked % len(places)].decode()}"
        call = command if b'"tools":' in body else None
        write = next(
            (writer for end, writer in _WRITERS.items() if path.endswith(end)), _chat_completion
        )
        return write(f"THINK: {_THOUGHT}\nACTION: {command}", call, len(body) // 4)


def _response(content: dict[str, object], status: bytes = b"200 OK") -> bytes:
    encoded = json.dumps(content).encode()
    kind = b"\r\nContent-Type: application/json\r\nContent-Length: "
    return b"HTTP/1.1 " + status + kind + str(len(encoded)).encode() + _HEAD_END + encoded


def _chat_completion(text: str, call: str | None, prompt: int) -> dict[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": text}
    if call is not None:
        function = {"name": "act", "arguments": json.dumps({"command": call})}
        made = {"id": "call_1", "type": "function", "function": function}
        message = {"role": "assistant", "content": _THOUGHT, "tool_calls": [made]}
    finish = "stop" if call is None else "tool_calls"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "walker",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": 20,
            "total_tokens": prompt + 20,
        },
    }


def _openai_response(text: str, call: str | None, prompt: int) -> dict[str, object]:
    said = {"type": "output_text", "text": text if call is None else _THOUGHT, "annotations": []}
    output: list[dict[str, object]] = [
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [said]}
    ]
    if call is not None:
        arguments = json.dumps({"command": call})
        made = {"call_id": "call_1", "name": "act", "arguments": arguments}
        output.append({"type": "function_call", "id": "fc_1", **made})
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "model": "walker",
        "output": output,
        "usage": {"input_tokens": prompt, "output_tokens": 20, "total_tokens": prompt + 20},
    }


def _anthropic_message(text: str, call: str | None, prompt: int) -> dict[str, object]:
    content: list[dict[str, object]] = [
        {"type": "text", "text": text if call is None else _THOUGHT}
    ]
    if call is not None:
        content.append(
            {"type": "tool_use", "id": "toolu_1", "name": "act", "input": {"command": call}}
        )
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "walker",
        "content": content,
        "stop_reason": "end_turn" if call is None else "tool_use",
        "usage": {"input_tokens": prompt, "output_tokens": 20},
    }


def _gemini_content(text: str, call: str | None, prompt: int) -> dict[str, object]:
    parts: list[dict[str, object]] = [{"text": text if call is None else _THOUGHT}]
    if call is not None:
        parts.append({"functionCall": {"name": "act", "args": {"command": call}}})
    content = {"parts": parts, "role": "model"}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": prompt,
            "candidatesTokenCount": 20,
            "totalTokenCount": prompt + 20,
        },
        "modelVersion": "walker",
    }


_WRITERS = {
    b"/chat/completions": _chat_completion,
    b"/responses": _openai_response,
    b"/messages": _anthropic_message,
    b":generateContent": _gemini_content,
}


async def _serve(latency: float, per_minute: int | None = None) -> None:
    loop = asyncio.get_running_loop()
    limit = Limit(per_minute)
    server = await loop.create_server(lambda: Walker(latency, limit), "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None))
