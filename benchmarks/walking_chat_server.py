"""A chat-completions server that costs almost nothing, so that it is the client that is measured.

Reads HTTP/1.1 by hand, waits the latency asked for without using a processor,
and answers with the next place to walk to, read out of the prompt: games go on
to their step limit, and every step changes the game.

    python benchmarks/walking_chat_server.py 0.5

prints its address and serves until it is ended.
"""

import asyncio
import json
import re
import sys

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_ROOM = re.compile(rb"Looking quickly around you, you see (.*?)\.\\n")
_PLACE = re.compile(rb"an? ([a-z]+ \d+)")
_HEAD_END = b"\r\n\r\n"


class Walker(asyncio.Protocol):
    """One connection; requests on it come one after the other."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
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
        body, self._buffer = self._buffer[head:end], self._buffer[end:]
        response = self._response(body)
        if self._latency:
            self._loop.call_later(self._latency, self._transport.write, response)
        else:
            self._transport.write(response)

    def _response(self, body: bytes) -> bytes:
        self._asked += 1
        rooms = _ROOM.findall(body)
        places = _PLACE.findall(rooms[-1]) if rooms else [b"nowhere 1"]
        place = places[self._asked % len(places)].decode()
        text = f"THINK: I have not been everywhere yet.\nACTION: go to {place}"
        content = json.dumps(_completion(text, len(body) // 4)).encode()
        head = (
            f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}"
        )
        return head.encode() + _HEAD_END + content


def _completion(text: str, prompt_tokens: int) -> dict[str, object]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "walker",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": 20,
            "total_tokens": prompt_tokens + 20,
        },
    }


async def _serve(latency: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Walker(latency), "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
