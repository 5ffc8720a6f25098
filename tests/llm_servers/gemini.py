"""Google's Gemini API."""

import base64
import json
from typing import Any

from aiohttp import web

from llm_servers.base import WireServer, halves
from said import Messages, Said, words

_STATUSES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND"}


class GeminiServer(WireServer):
    prefix, route = "/v1beta", "/models/{call}"
    other_prefixes = ("/v1",)
    key_header = "x-goog-api-key"
    too_long = "The input token count (2000000) exceeds the maximum number of tokens allowed (1)."

    def heard(self, body: dict[str, Any]) -> Messages:
        heard = []
        for content in body["contents"]:
            for part in content["parts"]:
                if "text" in part:
                    role = "assistant" if content.get("role") == "model" else "user"
                    heard.append({"role": role, "content": part["text"]})
                elif "functionResponse" in part:
                    given = part["functionResponse"]["response"]
                    heard.append({"role": "tool", "content": given["result"]})
        return heard

    def response(self, body: dict[str, Any], request: web.Request, reply: Said) -> dict[str, Any]:
        prompt = sum(words(message["content"]) for message in self.heard(body))
        finish = "MAX_TOKENS" if reply.cut_off else "STOP"
        content = {"parts": self._parts(reply), "role": "model"}
        candidate: dict[str, Any] = {"content": content, "finishReason": finish, "index": 0}
        if reply.refusal:
            candidate = {"finishReason": "SAFETY", "index": 0}
        return {
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": prompt,
                "candidatesTokenCount": reply.tokens - words(reply.thoughts),
                "thoughtsTokenCount": words(reply.thoughts),
                "cachedContentTokenCount": prompt // 2,
                "totalTokenCount": prompt + reply.tokens,
            },
            "modelVersion": request.match_info["call"].partition(":")[0],
            "responseId": f"response-{self.count}",
        }

    def _parts(self, reply: Said) -> list[dict[str, Any]]:
        signature = {"thoughtSignature": base64.b64encode(b"signed").decode()}
        parts: list[dict[str, Any]] = []
        if reply.thoughts:
            parts.append({"text": reply.thoughts, "thought": True})
        if reply.text:
            signed = signature if reply.thoughts and not reply.calls else {}
            parts.append({"text": reply.text, **signed})
        for number, (name, arguments) in enumerate(reply.calls):
            call = {"functionCall": {"name": name, "args": json.loads(arguments)}}
            parts.append({**call, **(signature if reply.thoughts and number == 0 else {})})
        return parts

    def events(self, data: dict[str, Any]) -> list[dict[str, Any]]:
        candidate = data["candidates"][0]
        chunks = []
        for part in candidate.get("content", {}).get("parts", []):
            if "text" in part and "thoughtSignature" not in part:
                chunks += [{**part, "text": piece} for piece in halves(part["text"])]
            else:
                chunks.append(part)
        events: list[dict[str, Any]] = [
            {**data, "candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}]}
            for part in chunks
        ]
        last = {"finishReason": candidate["finishReason"], "index": 0}
        if chunks:
            last["content"] = {"parts": [], "role": "model"}
        return [*events, {**data, "candidates": [last]}]

    def error(self, status: int, text: str) -> dict[str, Any]:
        kinds = {**_STATUSES, 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
        return {"error": {"code": status, "message": text, "status": kinds.get(status, "INTERNAL")}}

    def forget_usage(self, data: dict[str, Any]) -> None:
        del data["usageMetadata"]

    def is_streamed(self, body: dict[str, Any], request: web.Request) -> bool:
        return request.match_info["call"].endswith(":streamGenerateContent")
