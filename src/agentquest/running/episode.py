"""Playing one episode: the only loop in AgentQuest. No configuration, no files.

How an episode ends is an `End`, decided here by who failed: a step limit or a full
context is a truncation; a reply without an action costs a step, and the agent is told;
a failing model or environment leaves the episode without a score, to be played again;
what an agent's own crash means is a policy of the run (see records.outcome).
"""

import asyncio
import inspect
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any, TypeVar

from pydantic import ValidationError

from agentquest.errors import ContextExceeded, ModelError, NetworkError, UserError
from agentquest.lib import Agent, Answer, Driver, Episode, Observation, Outcome
from agentquest.lib.agent import catch_exits
from agentquest.lib.metrics import repetition_rate
from agentquest.records.episode import EpisodeRecord, Failure, MessagePool, Source, Step
from agentquest.records.how import How
from agentquest.records.messages import Message, ToolSpec
from agentquest.records.outcome import End, is_scored
from agentquest.running.asking import ModelCalls, count_calls
from agentquest.running.crashes import Crash, describe_crash
from agentquest.running.spec import EpisodeSpec

logger = logging.getLogger(__name__)

OnStep = Callable[[Step, tuple[Message, ...]], None]
_CLOSING_S = 10.0
_OF_THE_ENVIRONMENT = {"valid", "observation", "admissible", "reward", "progress", "reachable"}
# What is recorded of an environment that says nothing that can be.
_UNKNOWN: dict[str, Any] = {
    **dict.fromkeys(("data_hash", "goal", "first_observation"), ""),
    **{"success": False, "reward": 0.0, "progress": 0.0},
}
T = TypeVar("T")


class EpisodePlayer:
    """One driver, one agent, one episode."""

    def __init__(
        self,
        spec: EpisodeSpec,
        driver: Driver,
        agent: Agent,
        introduce: Callable[[Driver], Episode],
        off_loop: bool = False,
        worker: str = "",
    ) -> None:
        self.spec = spec
        self.driver = driver
        self.agent = agent
        self.steps: list[Step] = []
        self.error: Failure | None = None
        self._introduce = introduce
        self._off_loop = off_loop
        self._worker = worker
        self._pool = MessagePool()
        self._calls = ModelCalls()
        self._tools: dict[str, ToolSpec] = {}
        self._whose_turn: Source = "environment"
        self._first: Observation | None = None
        self._end: End | None = None
        self._started = datetime.now(timezone.utc)
        self._clock = time.perf_counter()

    async def play(self, on_step: OnStep | None = None) -> EpisodeRecord:
        """Play to the end, whatever it is. Only cancellation passes through, and a `UserError`
        of an environment that cannot begin, such as data that is not there."""
        self._calls = count_calls()
        try:
            self._end = await self._to_its_end(on_step or (lambda step, prompt: None))
        finally:
            await self._close()
        return self._record(self._end)

    def cut_short(self) -> EpisodeRecord | None:
        """What a cancelled episode came to, if it came to anything: its calls have cost money.

        One that was over, and only its agent not yet closed, has its score.
        """
        if self._first is None or (self._end is None and not self.steps):
            return None
        end = self._end or self._fail(End.CANCELLED, "run", "stopped half-way")
        return self._record(end)

    async def _to_its_end(self, on_step: OnStep) -> End:
        try:
            first = await self._of_driver(self.driver.reset)
            self._first = first
            await self._of_agent(self.agent.begin(self._introduce(self.driver)))
            return await self._loop(first, on_step)
        except ContextExceeded as error:
            return self._fail(End.CONTEXT_LIMIT, "model", error)
        except (ModelError, NetworkError) as error:
            return self._fail(End.INFRASTRUCTURE_FAULT, "model", error)
        except _NoAnswer as error:
            return self._fail(End.AGENT_FAULT, "agent", str(error), kind="timeout")
        except BaseException as error:
            # Foreign code runs here: whatever it raises ends only its own episode. Ctrl-C is a
            # signal of the event loop's; what raises KeyboardInterrupt here is the code itself.
            cannot_begin = self._first is None and isinstance(error, UserError)
            if cannot_begin or _ends_the_task(error):
                raise
            if self._whose_turn == "agent":
                return self._fail(End.AGENT_FAULT, "agent", error)
            return self._fail(End.INFRASTRUCTURE_FAULT, "environment", error)

    async def _loop(self, observation: Observation, on_step: OnStep) -> End:
        outcome = self.driver.outcome
        while not outcome.done:
            if len(self.steps) >= self.spec.context.max_steps:
                return End.STEP_LIMIT
            clock = time.perf_counter()
            answer = await self._of_agent(self._answer(observation))
            if answer.give_up:
                unchanged = replace(observation, valid=False)
                self._add(self._step(answer, unchanged, outcome, clock), answer, on_step)
                return End.GAVE_UP
            observation = await self._carry_out(answer, observation)
            outcome = self.driver.outcome
            self._add(self._step(answer, observation, outcome, clock), answer, on_step)
        return End.SOLVED if outcome.success else End.FAILED

    def _add(self, step: Step, answer: Answer, on_step: OnStep) -> None:
        self._whose_turn = "environment"
        self.steps.append(step)
        on_step(step, answer.prompt)

    async def _of_agent(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for the agent, within the time it has for one answer."""
        limit = self.spec.context.step_timeout_s
        self._whose_turn = "agent"
        done = await (work if limit is None else _within(work, limit, self._calls))
        self._whose_turn = "environment"
        return done

    async def _of_driver(self, work: Callable[..., T], *arguments: Any) -> T:
        """Let the environment work; slow ones run in a thread, off the event loop."""
        if self._off_loop:
            return await asyncio.to_thread(work, *arguments)
        return work(*arguments)

    async def _answer(self, observation: Observation) -> Answer:
        """An agent of the user's own may return anything."""
        answering: Any = self.agent.act(_plain(observation))
        if not inspect.isawaitable(answering):
            raise TypeError("act() is no coroutine: define it with `async def act`")
        answer = await answering
        if not isinstance(answer, Answer):
            raise TypeError(f"act() returned a {type(answer).__name__} instead of an Answer")
        if not (answer.action is None or isinstance(answer.action, str)):
            raise TypeError(f"the action is a {type(answer.action).__name__} instead of text")
        return answer

    async def _close(self) -> None:
        """An agent that fails to clean up has still played its episode."""
        try:
            await _within(self.agent.close(), _CLOSING_S, self._calls)
        except BaseException as error:
            # User code may raise anything here.
            if _ends_the_task(error):
                raise
            said = describe_crash(error).message
            logger.warning("%s: closing the agent failed: %s", self.spec.key, said)

    async def _carry_out(self, answer: Answer, before: Observation) -> Observation:
        """The next observation; the runner's own if the environment has nothing to do."""
        if answer.action is None or answer.answered:
            return Observation(
                answer.told,
                text=answer.told,
                admissible=before.admissible,
                valid=answer.answered,
            )
        action = self.driver.action_class(value=answer.action)
        return await self._of_driver(self.driver.step, action)

    def _step(self, answer: Answer, after: Observation, outcome: Outcome, clock: float) -> Step:
        self._whose_turn = "agent"  # what it said is checked as it is written down
        keep = self.spec.context.save_prompts
        if keep:
            self._tools |= {one.name: ToolSpec.model_validate(one) for one in answer.tools}
        try:
            return Step(
                index=len(self.steps) + 1,
                prompt=self._pool.places(answer.prompt) if keep else [],
                reply=answer.reply,
                reasoning=answer.reasoning,
                tool_calls=list(answer.tool_calls),
                action=answer.action,
                how=How.GAVE_UP if answer.give_up else answer.how,
                valid=after.valid,
                observation=after.text,
                admissible=list(after.admissible),
                reward=outcome.reward,
                progress=outcome.progress,
                reachable=outcome.reachable,
                seconds=time.perf_counter() - clock,
                calls=list(answer.calls),
            )
        except ValidationError as error:
            is_told = answer.action is None or answer.answered
            if not is_told and error.errors()[0]["loc"][0] in _OF_THE_ENVIRONMENT:
                self._whose_turn = "environment"
            raise

    def _fail(
        self, end: End, source: Source, error: BaseException | str, kind: str | None = None
    ) -> End:
        if isinstance(error, BaseException):
            crash = describe_crash(error)
        else:
            crash = Crash(kind or end.value, error)
        self.error = Failure(source=source, **crash._asdict())
        return end

    def _record(self, end: End) -> EpisodeRecord:
        try:
            return self._write(end, **self._ask_driver(end))
        except Exception as error:
            # A benchmark of the user's own may say anything; what cannot be recorded is left out.
            return self._write(self._fail(End.INFRASTRUCTURE_FAULT, "environment", error))

    def _ask_driver(self, end: End) -> dict[str, Any]:
        """What the driver says of an episode that is over."""
        driver, outcome, first = self.driver, self.driver.outcome, self._first or Observation("")
        return {
            "first_observation": first.text,
            "first_admissible": list(first.admissible),
            "data_hash": driver.data_hash,
            "facts": driver.facts(),
            "goal": driver.metrics.goal,
            "milestones": list(driver.metrics.milestones),
            "success": outcome.success and end is End.SOLVED,
            "reward": outcome.reward,
            "progress": outcome.progress,
            "explanation": outcome.explanation,
            "details": driver.details(),
        }

    def _write(self, end: End, **said: Any) -> EpisodeRecord:
        context, task = self.spec.context, self.spec.task
        return EpisodeRecord(
            **{**_UNKNOWN, **said},
            run_id=context.run_id,
            key=self.spec.key,
            benchmark=context.benchmark.name,
            task_id=task.id,
            task_type=task.task_type,
            split=task.split,
            trial=self.spec.trial,
            seed=self.spec.seed,
            problem=task.problem,
            game_file=task.file,
            agent=context.agent_name or context.agent.name,
            model=context.model_name,
            config_hash=context.config_hash,
            versions=dict(context.versions),
            max_steps=context.max_steps,
            messages=self._pool.messages,
            tools=list(self._tools.values()),
            steps=self.steps,
            end=end,
            scored=is_scored(end, context.agent_faults),
            repetition_rate=repetition_rate([step.action or step.reply for step in self.steps]),
            error=self.error,
            worker=self._worker,
            started_at=self._started.isoformat(timespec="seconds"),
            seconds=time.perf_counter() - self._clock,
        )


class _NoAnswer(Exception):
    """The agent used up its time."""


async def _within(work: Coroutine[Any, Any, T], seconds: float, calls: ModelCalls) -> T:
    """Its result, if it comes in time; an agent that still waits for its model is not at fault.

    Unlike `asyncio.wait_for` before Python 3.12 this never loses a cancellation, and
    never takes a time limit of the work's own for ours.
    """
    task = asyncio.ensure_future(catch_exits(work))
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            if calls.waiting:
                raise ModelError(f"no reply of the model within {seconds:g} s")
            raise _NoAnswer(f"no answer within {seconds:g} s")
        result = task.result()
        if isinstance(result, SystemExit | KeyboardInterrupt):
            raise result
        return result
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_CLOSING_S)


def _ends_the_task(error: BaseException) -> bool:
    """Whether it is this task that is to end, rather than something the agent waited for.

    Python 3.10 cannot tell; there every cancellation ends the run.
    """
    if not isinstance(error, asyncio.CancelledError):
        # Raised without a loop it is Python's own, which takes an unfinished coroutine away.
        return isinstance(error, GeneratorExit) and asyncio._get_running_loop() is None
    task = asyncio.current_task()
    return task is None or not hasattr(task, "cancelling") or task.cancelling() > 0


def _plain(seen: Observation) -> Observation:
    """A copy without what a benchmark's own class may hold: agents must not reach the game."""
    if type(seen) is Observation:
        return seen
    return Observation(
        seen.output, seen.success, seen.can_proceed, seen.text, seen.admissible, seen.valid
    )
