"""OpenAI's Responses API."""

from typing import Any

from aiohttp import web

from llm_servers.base import WireServer, halves
from said import Messages, Said, words


class ResponsesServer(WireServer):
    prefix, route = "/v1", "/responses"
    key_header = "Authorization"
    too_long = "Your input exceeds the context window of this model."

    def heard(self, body: dict[str, Any]) -> Messages:
        heard = []
        for item in body["input"]:
            kind = item.get("type", "message")
            if kind == "message":
                content = item["content"]
                text = content if isinstance(content, str) else content[0]["text"]
                heard.append({"role": item["role"], "content": text})
            elif kind == "function_call_output":
                heard.append({"role": "tool", "content": item["output"]})
        return heard

    def response(self, body: dict[str, Any], request: web.Request, reply: Said) -> dict[str, Any]:
        prompt = sum(words(message["content"]) for message in self.heard(body))
        return {
            "id": f"resp_{self.count}",
            "object": "response",
            "created_at": 1_790_000_000,
            "status": "incomplete" if reply.cut_off else "completed",
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if reply.cut_off else None,
            "instructions": None,
            "max_output_tokens": body.get("max_output_tokens"),
            "metadata": {},
            "model": body["model"],
            "output": self._output(reply),
            "parallel_tool_calls": True,
            "temperature": body.get("temperature"),
            "tool_choice": "auto",
            "tools": body.get("tools", []),
            "top_p": 1.0,
            "usage": {
                "input_tokens": prompt,
                "input_tokens_details": {"cached_tokens": prompt // 2, "cache_write_tokens": 0},
                "output_tokens": reply.tokens,
                "output_tokens_details": {"reasoning_tokens": words(reply.thoughts)},
                "total_tokens": prompt + reply.tokens,
            },
        }

    def _output(self, reply: Said) -> list[dict[str, Any]]:
        output: list[dict[str, Any]] = []
        if reply.thoughts:
            output.append(
                {
                    "type": "reasoning",
                    "id": f"rs_{self.count}",
                    "summary": [{"type": "summary_text", "text": reply.thoughts}],
                    "encrypted_content": f"locked-{self.count}",
                }
            )
        if reply.text or not (reply.calls or reply.thoughts):
            part: dict[str, Any] = {"type": "output_text", "text": reply.text, "annotations": []}
            if reply.refusal:
                part = {"type": "refusal", "refusal": reply.refusal}
            output.append(
                {
                    "type": "message",
                    "id": f"msg_{self.count}",
                    "role": "assistant",
                    "status": "incomplete" if reply.cut_off else "completed",
                    "content": [part],
                }
            )
        for number, (name, arguments) in enumerate(reply.calls):
            output.append(
                {
                    "type": "function_call",
                    "id": f"fc_{self.count}_{number}",
                    "call_id": f"call_{self.count}_{number}",
                    "name": name,
                    "arguments": arguments,
                    "status": "completed",
                }
            )
        return output

    def events(self, data: dict[str, Any]) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": {**data, "status": "in_progress"}}
        ]
        for index, item in enumerate(data["output"]):
            place = {"output_index": index}
            events.append({"type": "response.output_item.added", "item": item, **place})
            if item["type"] == "message" and "text" in item["content"][0]:
                whereabouts = {**place, "item_id": item["id"], "content_index": 0}
                events += [
                    {
                        "type": "response.output_text.delta",
                        "delta": piece,
                        "logprobs": [],
                        **whereabouts,
                    }
                    for piece in halves(item["content"][0]["text"])
                ]
            events.append({"type": "response.output_item.done", "item": item, **place})
        ending = "incomplete" if data["status"] == "incomplete" else "completed"
        events.append({"type": f"response.{ending}", "response": data})
        return [{**event, "sequence_number": number} for number, event in enumerate(events)]

    def error(self, status: int, text: str) -> dict[str, Any]:
        code = "context_length_exceeded" if text == self.too_long else None
        if status == 429 and not text:
            code = "insufficient_quota"
        return {"error": {"message": text, "type": "error", "param": None, "code": code}}

    def forget_usage(self, data: dict[str, Any]) -> None:
        data["usage"] = None
