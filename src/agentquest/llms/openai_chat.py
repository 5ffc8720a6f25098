"""A thin client for OpenAI-compatible chat completions (OpenRouter, vLLM, llama.cpp, Ollama).

This is a hot path: with many episodes at once, what a call costs here bounds
how many a process can make. So the fixed part of the request is encoded once,
one session serves all calls, and nothing is validated twice. Streaming is left
out on purpose: an agent needs the whole reply before it can act.
"""

import asyncio
import json
import logging
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentquest.llms.cache import ResponseCache, request_key
from agentquest.llms.clock import Clock, Deadline
from agentquest.llms.failures import ModelFailure, Redactor, Transient
from agentquest.llms.limits import Gate, Permit
from agentquest.llms.messages import ChatMessage, Reply, read_message, read_usage
from agentquest.llms.model import ModelConfig
from agentquest.llms.retry import READABLE, failure_of_status, retrying
from agentquest.llms.transport import Answer, Poster

logger = logging.getLogger(__name__)

# Ends in which it was the model that said nothing; asking again would change its score.
_OWN_SILENCE = frozenset({"length", "max_tokens", "content_filter"})


@dataclass
class Traffic:
    """What a client has done so far, for live views."""

    requests: int = 0
    replies: int = 0
    cached: int = 0
    faults: int = 0
    rate_limited: int = 0


class OpenAIChat:
    """A `ChatModel` over HTTP. One for all episodes of a run, in one event loop."""

    def __init__(
        self,
        config: ModelConfig,
        *,
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> None:
        key = config.key().get_secret_value()
        if config.api_key is not None:
            logger.warning("the API key stands in the configuration; api_key_env is safer")
        self.config = config
        self.traffic = Traffic()
        self._clock = clock or Clock()
        self._rng = rng or random.Random()
        self._redact = Redactor(key)
        self._policy = config.retry_policy
        self._fields = config.request_fields()
        self._tail = _tail(self._fields)
        self._cache = ResponseCache(config.cache_dir) if config.cache_dir else None
        self._poster = Poster(
            config.url, key, timeout_s=config.timeout_s, max_bytes=config.max_response_bytes
        )
        self.gate = Gate(
            max_concurrency=config.max_concurrency,
            requests_per_minute=config.requests_per_minute,
            tokens_per_minute=config.tokens_per_minute,
            clock=self._clock,
        )

    def __repr__(self) -> str:
        return f"OpenAIChat({self.config.model!r} at {self.config.base_url!r})"

    @property
    def name(self) -> str:
        return self.config.model

    async def complete(self, messages: Sequence[ChatMessage], *, seed: int | None = None) -> Reply:
        body = self._body(messages, seed)
        if self._cache is None:
            return await self._ask(body)
        key = request_key(self.config.url, body)
        known = await asyncio.to_thread(self._cache.get, key)
        if known is not None:
            self.traffic.cached += 1
            return known
        reply = await self._ask(body)
        try:
            await asyncio.to_thread(self._cache.put, key, reply)
        except OSError as error:
            # The reply is paid for and right; it is only not kept.
            logger.warning("a reply could not be kept in %s: %s", self.config.cache_dir, error)
        return reply

    async def close(self) -> None:
        await self._poster.close()

    def _body(self, messages: Sequence[ChatMessage], seed: int | None) -> bytes:
        turns = [{"role": message.role, "content": message.content} for message in messages]
        tail = self._tail if seed is None else _tail({**self._fields, "seed": seed})
        return b'{"messages":' + json.dumps(turns).encode() + tail

    async def _ask(self, body: bytes) -> Reply:
        async def attempt(number: int, deadline: Deadline) -> Reply:
            limits = self.gate.pass_through(len(body), self.config.max_tokens, deadline)
            async with limits as permit:
                return await self._try(body, number, deadline, permit)

        return await retrying(attempt, self._policy, self._clock, self._rng)

    async def _try(self, body: bytes, number: int, deadline: Deadline, permit: Permit) -> Reply:
        """One request; what came of it is told to the limits through the permit."""
        self.traffic.requests += 1
        started = self._clock.now()
        try:
            answer = await self._poster.post(body, deadline.left)
            reply = self._read(answer, number)
        except Transient as transient:
            self.traffic.faults += 1
            if transient.status == 429:
                self.traffic.rate_limited += 1
                permit.refused = True
            raise
        permit.usage, permit.succeeded = reply.usage, True
        self.traffic.replies += 1
        return replace(reply, latency_s=self._clock.now() - started, attempts=number)

    def _read(self, answer: Answer, number: int) -> Reply:
        if answer.status != 200:
            raise self._failure(answer.status, answer, number)
        try:
            data = json.loads(answer.body)
            # OpenRouter tells a provider's failure inside a response of status 200.
            code = _error_code(data)
            reply = self._reply(data) if code is None else None
        except (ValueError, RecursionError) as error:
            problem = f"not a chat completion: {error}"
        else:
            if reply is not None:
                return reply
            raise self._failure(code or 500, answer, number)
        start = self._redact.error(answer.body[:READABLE].decode("utf-8", "replace"))
        problem += f"; it starts with {start[:120]!r}" if start else "; it has no content"
        raise Transient(self._redact.error(problem), status=answer.status)

    def _reply(self, data: Any) -> Reply:
        choice = _first_choice(data)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise ValueError("the choice has no message")
        text, reasoning = read_message(message)
        finish, usage = choice.get("finish_reason"), read_usage(data.get("usage"))
        if not (finish is None or isinstance(finish, str)):
            raise ValueError("finish_reason is not text")
        generated = text or reasoning or (usage is not None and usage.completion_tokens > 0)
        if not generated and finish not in _OWN_SILENCE:
            raise ValueError("no token was generated")
        model = data.get("model")
        return Reply(
            text=self._redact.reply(text),
            reasoning=self._redact.reply(reasoning),
            finish_reason=self._redact.reply(finish) if finish else None,
            usage=usage,
            model=self._redact.reply(model) if isinstance(model, str) else self.config.model,
        )

    def _failure(self, status: int, answer: Answer, number: int) -> ModelFailure | Transient:
        return failure_of_status(
            status,
            answer.body,
            answer.headers,
            redact=self._redact,
            clock=self._clock,
            attempts=number,
        )


def _tail(fields: Mapping[str, Any]) -> bytes:
    """The request after its messages, ready to be put behind them."""
    return b"," + json.dumps(fields, allow_nan=False).encode()[1:]


def _error_code(data: Any) -> int | None:
    """The HTTP status of an error told inside a response, or None where there is none."""
    if not isinstance(data, dict):
        raise ValueError("the response is not an object")
    error = data.get("error")
    if not error and isinstance(data.get("choices"), list) and data["choices"]:
        error = _first_choice(data).get("error")
    if not error:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def _first_choice(data: dict[str, Any]) -> dict[str, Any]:
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ValueError("there is no choice in it")
    return choices[0]
