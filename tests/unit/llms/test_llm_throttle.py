"""Under a rate limit every call is answered, and next to none is refused on the way."""

import asyncio
import itertools
import json
import logging
import random
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from agentquest.llms.clock import Clock, Deadline
from agentquest.llms.failures import ModelUnavailable, Transient
from agentquest.llms.limits import Throttle
from agentquest.llms.openai_chat import OpenAIChat, OpenAISettings
from agentquest.llms.status import Status
from agentquest.llms.transport import HttpAnswer
from agentquest.records.messages import Message
from fake_clock import FakeClock, VirtualLoop

HELLO = [Message(role="user", content="Go on.")]
REPLY = json.dumps(
    {"choices": [{"message": {"content": "ACTION: look"}, "finish_reason": "stop"}]}
).encode()


class Limiter:
    """A server in virtual time: what it allows in a window, and how it counts."""

    def __init__(
        self,
        clock: Clock,
        allowed: int,
        window_s: float,
        kind: str,
        latency_s: float,
        says_when: bool,
    ) -> None:
        self._clock = clock
        self._allowed, self._window_s, self._kind = allowed, window_s, kind
        self._latency_s, self._says_when = latency_s, says_when
        self._times: deque[float] = deque()
        self._tokens, self._filled_at = float(allowed), 0.0
        self.requests = self.refused = 0
        self.gone_until = 0.0

    async def post(self, body: bytes, time_left: float) -> HttpAnswer:
        self.requests += 1
        allowed_at = self._allowed_at()
        await asyncio.sleep(0.02)
        if allowed_at > self._clock.now():
            self.refused += 1
            wait = allowed_at - self._clock.now()
            headers = {"Retry-After": f"{wait:.3f}"} if self._says_when else {}
            return HttpAnswer(429, headers, b'{"error": {"message": "Too many requests."}}')
        await asyncio.sleep(self._latency_s)
        return HttpAnswer(200, {}, REPLY)

    def _allowed_at(self) -> float:
        now = self._clock.now()
        if self._kind == "bucket":
            rate = self._allowed / self._window_s
            self._tokens = min(self._allowed, self._tokens + (now - self._filled_at) * rate)
            self._filled_at = now
            if self._tokens < 1.0:
                return now + (1.0 - self._tokens) / rate + 0.021
            self._tokens -= 1.0
            return now
        begins = (
            now // self._window_s * self._window_s
            if self._kind == "fixed"
            else (now - self._window_s)
        )
        while self._times and self._times[0] <= begins:
            self._times.popleft()
        if len(self._times) >= self._allowed:
            free = begins if self._kind == "fixed" else self._times[0]
            return free + self._window_s + 0.021
        self._times.append(now)
        return now

    async def close(self) -> None:
        return None


def client_of(server: object, clock: Clock, **fields: Any) -> OpenAIChat:
    settings = OpenAISettings(**{"model": "m", "max_retries": 2, **fields})
    client = OpenAIChat(settings, clock=clock, rng=random.Random(5))
    client._transport = server  # type: ignore[assignment]
    return client


class Run(NamedTuple):
    replies: int
    requests: int
    seconds: float


def play(
    *,
    episodes: int = 32,
    steps: int = 10,
    allowed: int = 120,
    window_s: float = 60.0,
    kind: str = "fixed",
    latency_s: float = 0.5,
    says_when: bool = True,
) -> Run:
    async def scenario(clock: Clock) -> Run:
        server = Limiter(clock, allowed, window_s, kind, latency_s, says_when)
        client = client_of(server, clock)

        async def episode() -> int:
            return sum([bool(await client.complete(HELLO)) for _ in range(steps)])

        done = await asyncio.gather(*(episode() for _ in range(episodes)))
        return Run(sum(done), server.requests, clock.now())

    return VirtualLoop.run(scenario)


@pytest.mark.parametrize("says_when", [True, False])
@pytest.mark.parametrize("kind", ["fixed", "sliding", "bucket"])
@pytest.mark.parametrize("latency_s", [0.02, 0.5, 10.0])
def test_a_limit_of_120_a_minute_costs_few_requests(
    kind: str, latency_s: float, says_when: bool
) -> None:
    run = play(steps=30, kind=kind, latency_s=latency_s, says_when=says_when)
    assert run.replies == 960
    assert run.requests <= 1.05 * 960
    assert run.seconds < 1.25 * 480  # in virtual time, so that it is the same everywhere


@pytest.mark.parametrize("says_when", [True, False])
@pytest.mark.parametrize("kind", ["fixed", "sliding"])
@pytest.mark.parametrize("latency_s", [0.02, 0.5, 10.0])
def test_few_requests_are_refused_in_a_short_run_too(
    kind: str, latency_s: float, says_when: bool
) -> None:
    run = play(steps=10, kind=kind, latency_s=latency_s, says_when=says_when)
    assert run.replies == 320
    assert run.requests <= 1.05 * 320


class Metronome:
    """A server in virtual time that refuses a request sent less than `gap_s` after the last one."""

    def __init__(self, clock: Clock, gap_s: float) -> None:
        self._clock = clock
        self._gap_s = gap_s
        self._accepted_at = -gap_s
        self.refused: list[bool] = []

    async def post(self, body: bytes, time_left: float) -> HttpAnswer:
        wait = self._accepted_at + self._gap_s - self._clock.now()
        self.refused.append(wait > 0.0)
        if wait > 0.0:
            return HttpAnswer(429, {"Retry-After": f"{wait:.9f}"}, b"")
        self._accepted_at = self._clock.now()
        return OK


def test_a_known_pace_is_approached_from_below() -> None:
    """Below the pace that was accepted, then faster with every request until one is refused."""

    async def scenario(clock: Clock) -> list[bool]:
        server = Metronome(clock, 0.5)
        client = client_of(server, clock)

        async def episode() -> None:
            for _ in range(50):
                await client.complete(HELLO)

        await asyncio.gather(*(episode() for _ in range(4)))
        return server.refused

    refused = VirtualLoop.run(scenario)
    assert refused[:2] == [False, True]
    assert refused[2:].index(True) == 22


def refusal(retry_after: float | None = None) -> Transient:
    return Transient("HTTP 429", status=429, retry_after=retry_after)


class Requests:
    """Rounds of requests through a throttle; each round ends with a refusal and its hold."""

    def __init__(self) -> None:
        self._time = FakeClock()
        self.throttle = Throttle(self._time.clock, 1.0)

    async def send(self, sent: int, refused: slice, in_s: float = 0.0) -> float | None:
        """A round in which these were refused; the pace that it leads to."""
        deadline = Deadline(self._time.clock, 1e9)
        tickets = [await self.throttle.enter(deadline) for _ in range(sent)]
        self._time.time += in_s
        for ticket in tickets[refused]:
            self.throttle.note_refusal(ticket, Transient("HTTP 429", status=429))
        self.throttle.note_reply(await self.throttle.enter(deadline))
        return self.throttle.pace


@pytest.mark.parametrize(
    ("sent", "refused", "is_limit"),
    [(6, 3, False), (6, 4, True), (5, 1, True)],
    ids=["most accepted", "most refused", "too few to tell"],
)
async def test_requests_after_a_refused_one_tell_a_limit_from_chance(
    sent: int, refused: int, is_limit: bool
) -> None:
    pace = await Requests().send(sent, slice(1, 1 + refused))
    assert (pace is not None) == is_limit


async def test_a_pace_that_falls_three_times_in_a_row_is_given_up() -> None:
    last, requests = slice(-1, None), Requests()
    paces = [await requests.send(2, last, in_s) for in_s in (0, 2, 4, 8)]
    assert [pace is None for pace in paces] == [False, False, False, True]


async def test_a_pace_that_recovers_in_between_is_kept() -> None:
    last, requests = slice(-1, None), Requests()
    paces = [await requests.send(2, last, in_s) for in_s in (0, 2, 4)]
    paces.append(await requests.send(100, last))
    paces += [await requests.send(2, last, in_s) for in_s in (8, 16)]
    assert None not in paces


async def test_a_long_hold_leaves_a_pace_of_one_request_in_twenty_seconds() -> None:
    assert await Requests().send(2, slice(1, None), 1000.0) == pytest.approx(1.005 / 20)


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "0.9"}], ids=["silent", "too short"])
def test_holds_triple_up_to_twenty_seconds(headers: dict[str, str]) -> None:
    async def scenario(clock: Clock) -> list[float]:
        server = Scripted(clock, lambda now: HttpAnswer(429, headers, b""))
        client = client_of(server, clock, deadline_s=200.0)
        calls = [client.complete(HELLO) for _ in range(64)]
        await asyncio.gather(*calls, return_exceptions=True)
        return server.times

    times = sorted({round(at) for at in VirtualLoop.run(scenario)})
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert gaps[:3] == [1, 3, 9]
    assert set(gaps[3:]) == {20}


@pytest.mark.parametrize(
    ("allowed", "window_s", "episodes", "steps"),
    [(120, 60.0, 256, 5), (10, 1.0, 64, 10), (100, 1.0, 256, 10), (6, 60.0, 8, 10), (1, 10, 8, 5)],
)
@pytest.mark.parametrize("kind", ["fixed", "bucket"])
def test_the_pace_is_found_for_limits_of_all_sizes(
    allowed: int, window_s: float, episodes: int, steps: int, kind: str
) -> None:
    calls = episodes * steps
    run = play(episodes=episodes, steps=steps, allowed=allowed, window_s=window_s, kind=kind)
    assert run.replies == calls
    # What was in flight when the limit was first met is lost in any case.
    assert run.requests - calls <= episodes + 0.2 * calls
    assert run.seconds < 2 * (calls / allowed * window_s)


class Scripted:
    """A server in virtual time that does as `what` says of each request's time."""

    def __init__(
        self,
        clock: Clock,
        what: Callable[[float], HttpAnswer | Transient],
        latency_s: float = 0.01,
    ) -> None:
        self._clock = clock
        self._what = what
        self._latency_s = latency_s
        self.times: list[float] = []
        self.asked_twice = asyncio.Event()

    async def post(self, body: bytes, time_left: float) -> HttpAnswer:
        now = self._clock.now()
        self.times.append(now)
        if len(self.times) == 2:
            self.asked_twice.set()
        await asyncio.sleep(min(self._latency_s, time_left))
        if time_left < self._latency_s:
            raise Transient("no answer in time")
        answer = self._what(now)
        if isinstance(answer, Transient):
            raise answer
        return answer


OK = HttpAnswer(200, {}, REPLY)


def gone() -> Transient:
    return Transient("connection failed: refused", unreachable=True)


def test_one_refusal_holds_back_the_whole_client() -> None:
    def refuse_once(now: float) -> HttpAnswer:
        return HttpAnswer(429, {"Retry-After": "30"}, b"") if now < 1 else OK

    async def scenario(clock: Clock) -> list[float]:
        server = Scripted(clock, refuse_once)
        client = client_of(server, clock)

        async def late(after: float) -> None:
            await asyncio.sleep(after)
            await client.complete(HELLO)

        await asyncio.gather(*(late(after) for after in (0.0, 2.0, 5.0, 29.0, 31.0)))
        return server.times

    first, *others = VirtualLoop.run(scenario)
    assert first == 0.0
    assert len(others) == 5
    assert min(others) >= 30.0


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("wait", ["1e9", "1800", "1799", "1600", "1400"])
def test_a_wait_of_any_length_ends_no_call(status: int, wait: str) -> None:
    """One that left a call no time for another request would end all that wait with it."""

    def refuse_once(now: float) -> HttpAnswer:
        return HttpAnswer(status, {"Retry-After": wait}, b"") if now < 3 else OK

    async def scenario(clock: Clock) -> None:
        client = client_of(Scripted(clock, refuse_once, latency_s=100.0), clock, deadline_s=1800.0)
        await asyncio.gather(*(client.complete(HELLO) for _ in range(32)))

    VirtualLoop.run(scenario)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.2])
def test_refusals_by_chance_do_not_bring_a_run_to_a_stop(share: float) -> None:
    async def scenario(clock: Clock) -> tuple[int, float]:
        rng = random.Random(1)
        refusal = HttpAnswer(429, {}, b"")
        server = Scripted(clock, lambda now: refusal if rng.random() < share else OK)
        client = client_of(server, clock)

        async def episode() -> None:
            for _ in range(20):
                await asyncio.sleep(0.5)
                await client.complete(HELLO)

        await asyncio.gather(*(episode() for _ in range(64)))
        return len(server.times), clock.now()

    requests, seconds = VirtualLoop.run(scenario)
    assert requests < 64 * 20 * (1.05 / (1 - share))
    assert seconds < 20 * 10


def test_a_server_that_refuses_for_ever_is_given_up_at_the_deadline_by_all_together() -> None:
    async def scenario(clock: Clock) -> tuple[int, float]:
        server = Scripted(clock, lambda now: HttpAnswer(429, {}, b'{"error": "busy"}'))
        client = client_of(server, clock, max_retries=0, deadline_s=600.0)
        calls = [client.complete(HELLO) for _ in range(50)]
        failed = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(failure, ModelUnavailable) for failure in failed)
        assert all("busy" in str(failure) for failure in failed)
        return len(server.times), clock.now()

    requests, seconds = VirtualLoop.run(scenario)
    assert 300 < seconds <= 600
    assert requests < 50 + 100


@pytest.mark.parametrize("answer", [gone, lambda: HttpAnswer(503, {}, b"")])
def test_a_server_that_goes_away_in_the_middle_is_waited_for(
    answer: Callable[[], HttpAnswer | Transient], caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(clock: Clock) -> tuple[int, list[float], Status]:
        server = Scripted(clock, lambda now: answer() if 5 < now < 605 else OK)
        client = client_of(server, clock, max_retries=8)

        async def episode() -> int:
            done = 0
            for _ in range(20):
                done += bool(await client.complete(HELLO))
                await asyncio.sleep(1.0)
            return done

        playing = asyncio.gather(*(episode() for _ in range(16)))
        await asyncio.sleep(300.0)
        status = client.status()
        return sum(await playing), server.times, status

    with caplog.at_level(logging.WARNING):
        done, times, status = VirtualLoop.run(scenario)
    assert done == 16 * 20
    assert sum(5 < at < 605 for at in times) < 16 * 12
    assert status.away
    assert status.failing_s == pytest.approx(295, abs=5)
    assert status.line.startswith("server down for 29")
    assert "the server is down" in caplog.text
    assert "the server is up again" in caplog.text


def test_a_server_that_stays_away_is_given_up_by_all_together() -> None:
    async def scenario(clock: Clock) -> float:
        server = Scripted(clock, lambda now: gone() if now > 5 else OK)
        client = client_of(server, clock, deadline_s=900.0, max_concurrency=4)

        async def episode() -> None:
            while True:
                await client.complete(HELLO)
                await asyncio.sleep(1.0)

        failed = await asyncio.gather(*(episode() for _ in range(16)), return_exceptions=True)
        assert all(isinstance(failure, ModelUnavailable) for failure in failed)
        assert all("connection failed: refused" in str(failure) for failure in failed)
        return clock.now()

    assert VirtualLoop.run(scenario) < 5 + 900 + 60


def test_a_server_that_never_was_there_is_not_waited_for() -> None:
    async def scenario(clock: Clock) -> int:
        server = Scripted(clock, lambda now: gone())
        client = client_of(server, clock, max_retries=3)
        with pytest.raises(ModelUnavailable, match="tried 4 times"):
            await client.complete(HELLO)
        return len(server.times)

    assert VirtualLoop.run(scenario) == 4


def test_what_the_client_does_now_can_be_seen() -> None:
    async def scenario(clock: Clock) -> list[Status]:
        answers = {0: 500, 1: 429}

        def what(now: float) -> HttpAnswer:
            status = answers.pop(len(server.times) - 1, 200)
            headers = {"Retry-After": "40"} if status == 429 else {}
            return HttpAnswer(status, headers, REPLY if status == 200 else b"broken")

        server = Scripted(clock, what)
        client = client_of(server, clock, wait_interval=10.0)
        seen = [client.status()]
        call = asyncio.ensure_future(client.complete(HELLO))
        await asyncio.sleep(0.005)
        seen.append(client.status())
        await asyncio.sleep(0.01)
        seen.append(client.status())
        await server.asked_twice.wait()
        await asyncio.sleep(0.5)
        seen.append(client.status())
        await call
        seen.append(client.status())
        return seen

    idle, sent, failed, held, done = VirtualLoop.run(scenario)
    assert (idle.in_flight, idle.line) == (0, "")
    assert (sent.in_flight, sent.line) == (1, "")
    assert (failed.in_flight, failed.tries, failed.last_error) == (0, 2, "HTTP 500: broken")
    assert failed.line.endswith("attempt 2: HTTP 500: broken")
    assert 38 < held.held_s < 40
    assert held.line.startswith("rate limited, on hold for 40 s: HTTP 429")
    assert (done.failing_s, done.tries, done.requests) == (None, 1, 3)


def test_a_reply_that_does_not_come_is_told() -> None:
    assert Status(in_flight=64, oldest_s=120.0).line == "64 requests open, the oldest for 120 s"
