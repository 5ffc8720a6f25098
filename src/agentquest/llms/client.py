"""What all models over HTTP share: limits, retries, cache and care with keys.

A provider derives from `HttpModel` and defines how a conversation is written and how a
response is read; see `openai_chat`. This is a hot path: the CPU time of a call bounds how
many episodes one process can play. So one session serves all calls, and nothing is
validated twice.
"""

import asyncio
import itertools
import json
import logging
import random
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from agentquest.llms.cache import ResponseCache, request_key
from agentquest.llms.clock import Clock, Deadline
from agentquest.llms.config import ModelSettings
from agentquest.llms.failures import ModelFailure, Transient
from agentquest.llms.limits import RequestLimits
from agentquest.llms.preflight import explain_failure, question, remarks
from agentquest.llms.prices import Price
from agentquest.llms.retry import READABLE, call_with_retries, failure_of_status
from agentquest.llms.status import Monitor, Status
from agentquest.llms.types import ChatModel, Reply
from agentquest.llms.wire import events, is_stream
from agentquest.records.messages import Message, ToolSpec
from agentquest.records.usage import read_json

if TYPE_CHECKING:
    from agentquest.llms.transport import HttpAnswer

logger = logging.getLogger(__name__)

# Statuses of a proxy whose server is down. An overloaded server sends them too, for some
# requests: only this many in a row, over all calls, count as an outage.
_GATEWAY = frozenset({502, 503, 504})
_MANY = 5
# Attempts of a preflight: a single failure is no reason not to start.
_PREFLIGHTS = 3
_JSON, _STREAM = "application/json", "text/event-stream"


class HttpModel(ChatModel, ABC):
    """A `ChatModel` over HTTP. One for all episodes of a run, in one event loop."""

    def __init__(
        self,
        settings: ModelSettings,
        *,
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> None:
        # Imported here, so that reading a configuration does not load an HTTP client.
        from agentquest.llms.transport import Transport

        key = settings.key().get_secret_value()
        self.settings = settings
        self._price = settings.price
        self._clock = clock or Clock()
        self._rng = rng or random.Random()
        self._monitor = Monitor(self._clock)
        self._calls = itertools.count()
        self._cache = ResponseCache(settings.cache_dir) if settings.cache_dir else None
        self._transport = Transport(
            settings.url,
            key,
            {"Accept": _STREAM if settings.stream else _JSON, **self._headers(key)},
            timeout_s=settings.timeout_s,
            max_bytes=settings.max_response_bytes,
        )
        self._redact = self._transport.redact
        self.limits = RequestLimits(settings, self._clock)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings.model!r} at {self.settings.base_url!r})"

    @property
    def name(self) -> str:
        return self.settings.model

    @property
    def price(self) -> Price | None:
        return self._price

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        seed: int | None = None,
    ) -> Reply:
        return await self._ask_once(self._body(messages, tools, seed), seed, self._ask)

    async def _ask_once(
        self, body: bytes, seed: int | None, ask: Callable[[bytes], Awaitable[Reply]]
    ) -> Reply:
        """The cached reply to this request, or a new one, which is then cached."""
        if self._cache is None:
            return await ask(body)
        key = request_key(self.settings.url, body, seed)
        known = await asyncio.to_thread(self._cache.get, key)
        if known is not None:
            return known
        reply = await ask(body)
        try:
            await asyncio.to_thread(self._cache.put, key, reply)
        except OSError as error:
            # The reply is valid and paid for, so the call succeeds.
            logger.warning("a reply could not be cached in %s: %s", self.settings.cache_dir, error)
        return reply

    async def preflight(
        self, *, tools: Sequence[ToolSpec] = (), timeout_s: float = 60.0
    ) -> tuple[str, ...]:
        deadline = Deadline(self._clock, timeout_s)
        wait = min(self.settings.wait_interval, 1.0)
        body = self._body([question(tools)], tools, None)

        async def once(body: bytes) -> Reply:
            return await self._try(body, 1, deadline)

        failure: Transient | ModelFailure
        for left in reversed(range(_PREFLIGHTS)):
            try:
                return remarks(await self._ask_once(body, None, once), self.settings, tools)
            except Transient as transient:
                if transient.status == 429:
                    return (f"{self.settings.base_url} is already refusing requests: {transient}",)
                failure = transient
            except ModelFailure as final:
                failure = final
            may_pass = isinstance(failure, Transient) and not failure.unreachable
            if not left or deadline.left <= wait or not may_pass:
                break
            await self._clock.sleep(wait)
        # Raised outside the handler, so that only this line is shown.
        raise explain_failure(failure, self.settings, tools)

    def status(self) -> Status:
        return self._monitor.status(self.limits)

    async def close(self) -> None:
        await self._transport.close()

    @abstractmethod
    def _write_conversation(self, messages: Sequence[Message]) -> dict[str, Any]:
        """The fields of a request that hold the conversation."""

    @abstractmethod
    def _write_tools(self, tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
        """The field `tools` of a request."""

    @abstractmethod
    def _read_reply(self, data: dict[str, Any]) -> Reply:
        """The reply in a response; a `ValueError` if there is none."""

    @abstractmethod
    def _assemble(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        """The whole response, from the events of its stream."""

    def _headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _find_error(self, data: dict[str, Any]) -> object:
        """The error inside a response of status 200, or nothing."""
        return data.get("error")

    def _error_status(self, error: object) -> int:
        """The HTTP status that corresponds to such an error."""
        code = error.get("code") if isinstance(error, dict) else None
        return code if isinstance(code, int) and 400 <= code < 600 else 500

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], seed: int | None
    ) -> bytes:
        settings = self.settings.request_fields(self.settings.seed if seed is None else seed)
        fields = {**self._write_conversation(messages), **settings}
        if tools:
            fields["tools"] = self._write_tools(tools)
        return json.dumps(fields).encode()

    async def _ask(self, body: bytes) -> Reply:
        """The reply to `body`, however many requests that takes."""
        call = next(self._calls)

        async def attempt(number: int, deadline: Deadline) -> Reply:
            permit = await self.limits.enter(len(body), deadline)
            try:
                reply = await self._try(body, number, deadline)
                permit.usage, permit.succeeded = reply.usage, True
                return reply
            except Transient as transient:
                transient.away = self._is_away(transient)
                transient.doubt(deadline.left - min(self.settings.timeout_s, deadline.left / 2.0))
                self._monitor.failed(call, number, transient)
                permit.failure = transient
                raise
            finally:
                self.limits.leave(permit)

        try:
            return await call_with_retries(attempt, self.settings, self._clock, self._rng)
        finally:
            self._monitor.forget(call)

    async def _try(self, body: bytes, number: int, deadline: Deadline) -> Reply:
        """Send one request."""
        request, sent_at = self._monitor.sent()
        try:
            answer = await self._transport.post(body, deadline.left)
        finally:
            self._monitor.done(request)
        reply = self._read(answer)
        self._monitor.replied()
        taken = {"latency_s": self._clock.now() - sent_at, "attempts": number}
        return reply.model_copy(update=taken)

    def _is_away(self, failure: Transient) -> bool:
        """Whether the server has gone down since it last answered."""
        if not self._monitor.has_replied:
            return False
        in_a_row = failure.status in _GATEWAY and self._monitor.failed_in_a_row >= _MANY
        return failure.unreachable or in_a_row

    def _read(self, answer: "HttpAnswer") -> Reply:
        """The reply in an answer. All that lies between bytes and `Reply` happens in here.

        Whatever is wrong with an answer, and whatever that raises, is a failure of the server:
        it must never look like one of the agent.
        """
        failure: Transient | None = None
        status, body = answer.status, answer.body
        if status == 200:
            try:
                data = self._decode(body)
                error = self._find_error(data)
                if not error:
                    return self._redact.whole_reply(self._read_reply(data))
                # Judged by itself: the model's words before an error are no part of it.
                status, body = self._error_status(error), json.dumps({"error": error}).encode()
            except Exception as problem:
                failure = self._unreadable(answer, problem)
        raise failure or failure_of_status(
            status,
            body,
            answer.headers,
            redact=self._redact,
            clock=self._clock,
        )

    def _decode(self, body: bytes) -> dict[str, Any]:
        """The response as an object, put together if it is a stream."""
        if self.settings.stream and is_stream(body):
            return self._assemble(events(body))
        data = read_json(body)
        if not isinstance(data, dict):
            raise ValueError("the response is not an object")
        return data

    def _unreadable(self, answer: "HttpAnswer", problem: Exception) -> Transient:
        known = isinstance(problem, ValueError | RecursionError)
        text = f"not a reply: {problem}" if known else f"not a reply: {type(problem).__name__}"
        start = self._redact.error(answer.body[:READABLE].decode("utf-8", "replace"))
        text += f"; it starts with {start[:120]!r}" if start else "; it has no content"
        return Transient(self._redact.error(text), status=answer.status)
