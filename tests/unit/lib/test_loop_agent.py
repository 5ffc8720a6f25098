"""A framework's own loop as an agent: its tool's calls are the steps."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from agentquest.lib import Benchmark, Episode, LoopAgent
from agentquest.lib.loop_agent import Act, GameOver
from agentquest.records.episode import EpisodeRecord
from agentquest.records.messages import Usage
from agentquest.records.outcome import End
from episode_players import a_player


class Looping(LoopAgent):
    """Plays as the test says."""

    def __init__(self, loop: Callable[[str, Act], Awaitable[Any]]) -> None:
        self._loop = loop

    async def play(self, episode: Episode, first: str, act: Act) -> None:
        await self._loop(first, act)


async def played(homes: Benchmark, loop: Callable[[str, Act], Awaitable[Any]]) -> EpisodeRecord:
    return await a_player(homes, Looping(loop), max_steps=3).play()


async def test_each_call_is_a_step_and_gives_the_next_observation(homes: Benchmark) -> None:
    seen: list[str] = []

    async def loop(first: str, act: Act) -> None:
        seen.append(first)
        for command in ("look", "inventory"):
            seen.append(await act(command))

    record = await played(homes, loop)
    assert [step.action for step in record.steps if step.action] == ["look", "inventory"]
    assert record.end is End.GAVE_UP, "it returned before the game was over"
    assert seen == [record.first_observation, *(step.observation for step in record.steps[:2])]


async def test_calls_made_at_once_are_steps_one_after_the_other(homes: Benchmark) -> None:
    async def loop(first: str, act: Act) -> None:
        await asyncio.gather(*(act(command) for command in ("look", "inventory", "fly")))

    record = await played(homes, loop)
    assert [step.action for step in record.steps] == ["look", "inventory", "fly"]
    assert record.end is End.STEP_LIMIT


async def test_what_the_framework_raises_is_the_agent_s_fault(homes: Benchmark) -> None:
    async def loop(first: str, act: Act) -> None:
        await act("look")
        raise ValueError("no plan left")

    record = await played(homes, loop)
    assert record.end is End.AGENT_FAULT
    assert record.error is not None
    assert record.error.message.startswith("ValueError: no plan left at test_loop_agent.py:")


async def test_a_loop_that_would_go_on_ends_with_the_game(homes: Benchmark) -> None:
    ended = asyncio.Event()

    async def loop(first: str, act: Act) -> None:
        try:
            while True:
                await act("look")
        finally:
            ended.set()

    record = await played(homes, loop)
    assert (record.end, len(record.steps)) == (End.STEP_LIMIT, 3)
    assert ended.is_set()


async def test_a_thread_learns_that_the_game_is_over(homes: Benchmark) -> None:
    learnt: list[type[BaseException]] = []

    async def loop(first: str, act: Act) -> None:
        here = asyncio.get_running_loop()

        def work() -> None:
            try:
                while True:
                    asyncio.run_coroutine_threadsafe(act("look"), here).result(timeout=60)
            except GameOver as error:
                learnt.append(type(error))

        await asyncio.to_thread(work)

    record = await played(homes, loop)
    await asyncio.get_running_loop().shutdown_default_executor()
    assert len(record.steps) == 3
    assert learnt == [GameOver]


async def test_what_the_framework_s_model_used_is_recorded_with_the_next_step(
    homes: Benchmark,
) -> None:
    class Counted:
        def __init__(self) -> None:
            self.input_tokens, self.output_tokens = 7, 2

    async def loop(first: str, act: Act) -> None:
        agent.report_usage(Counted(), model="m", latency_s=0.5)
        agent.report_usage({"prompt_tokens": 10**400, "completion_tokens": 1}, cost=1.7e308)
        await act("look")
        await act("inventory")
        await asyncio.to_thread(agent.report_usage, {"promptTokenCount": 3}, cost=0.25)

    agent = Looping(loop)
    record = await a_player(homes, agent, max_steps=5).play()
    assert [len(step.calls) for step in record.steps] == [2, 0, 1]
    known, unknown, last = record.calls
    assert known.usage == Usage(prompt_tokens=7, completion_tokens=2)
    assert (known.model, known.latency_s, known.cost) == ("m", 0.5, None)
    assert (unknown.usage, unknown.cost) == (None, None)
    assert (last.usage, last.cost) == (Usage(prompt_tokens=3, completion_tokens=0), 0.25)
    assert record.end is End.GAVE_UP
