"""Anthropic's Messages API."""

import json
from typing import Any

from aiohttp import web

from llm_servers.base import WireServer, halves
from said import Messages, Said, words

_KINDS = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error"}


class AnthropicServer(WireServer):
    prefix, route = "/v1", "/messages"
    key_header = "x-api-key"
    too_long = "prompt is too long: 208310 tokens > 200000 maximum"

    def heard(self, body: dict[str, Any]) -> Messages:
        heard = []
        for message in body["messages"]:
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for block in blocks:
                if block["type"] == "text":
                    heard.append({"role": message["role"], "content": block["text"]})
                elif block["type"] == "tool_result":
                    heard.append({"role": "tool", "content": block.get("content", "")})
        return heard

    def response(self, body: dict[str, Any], request: web.Request, reply: Said) -> dict[str, Any]:
        prompt = sum(words(message["content"]) for message in self.heard(body))
        marked = "cache_control" in json.dumps(body)
        stop = "tool_use" if reply.calls else "end_turn"
        stop = "max_tokens" if reply.cut_off else "refusal" if reply.refusal else stop
        return {
            "id": f"msg_{self.count}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": self._content(reply),
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {
                "input_tokens": prompt,
                "cache_creation_input_tokens": 40 if marked else 0,
                "cache_read_input_tokens": 200 if marked else 0,
                "output_tokens": reply.tokens,
                "output_tokens_details": {"thinking_tokens": words(reply.thoughts)},
            },
        }

    def _content(self, reply: Said) -> list[dict[str, Any]]:
        content: list[dict[str, Any]] = []
        if reply.thoughts:
            signed = {"thinking": reply.thoughts, "signature": f"signed-{self.count}"}
            content.append({"type": "thinking", **signed})
        if reply.text:
            content.append({"type": "text", "text": reply.text})
        for number, (name, arguments) in enumerate(reply.calls):
            call = {"id": f"toolu_{self.count}_{number}", "name": name}
            content.append({"type": "tool_use", **call, "input": json.loads(arguments)})
        return content

    def events(self, data: dict[str, Any]) -> list[dict[str, Any]]:
        usage = data["usage"] or {}
        started = {**data, "content": [], "stop_reason": None}
        started["usage"] = {**usage, "output_tokens": 1} if usage else {}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": started}]
        for index, block in enumerate(data["content"]):
            empty, deltas = _pieces(block)
            events.append({"type": "content_block_start", "index": index, "content_block": empty})
            events += [
                {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
            ]
            events.append({"type": "content_block_stop", "index": index})
        stop = {"stop_reason": data["stop_reason"], "stop_sequence": None}
        ended = {"output_tokens": usage["output_tokens"]} if usage else {}
        events.append({"type": "message_delta", "delta": stop, "usage": ended})
        return [*events, {"type": "ping"}, {"type": "message_stop"}]

    def error(self, status: int, text: str) -> dict[str, Any]:
        kind = {**_KINDS, 429: "rate_limit_error", 503: "overloaded_error"}.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_1"}

    def forget_usage(self, data: dict[str, Any]) -> None:
        data["usage"] = None


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block before anything is in it, and what then comes."""
    kind = block["type"]
    if kind == "text":
        return {**block, "text": ""}, [
            {"type": "text_delta", "text": piece} for piece in halves(block["text"])
        ]
    if kind == "thinking":
        deltas: list[dict[str, Any]] = [
            {"type": "thinking_delta", "thinking": piece} for piece in halves(block["thinking"])
        ]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {**block, "thinking": "", "signature": ""}, deltas
    pieces = halves(json.dumps(block["input"]))
    return {**block, "input": {}}, [
        {"type": "input_json_delta", "partial_json": piece} for piece in pieces
    ]
