"""Playing one episode: the only loop in AgentQuest. No configuration, no files.

How an episode ends is a Cause; only the agent's own failures are scores. A step
limit reached is a truncation, a reply without an action costs a step and is told
to the agent, and a failing model, agent or environment leaves the episode owed.
"""

import asyncio
import logging
import platform
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, TypeVar

from agentquest import __version__
from agentquest.errors import Cause, ModelError
from agentquest.lib import Agent, Answer, Driver, Episode, Observation, Task
from agentquest.lib.similarity import repetition_rate
from agentquest.records.episode import Call, EpisodeRecord, Failure, Step, episode_key
from agentquest.records.messages import Message

logger = logging.getLogger(__name__)

CHECK_VALID_ACTIONS = "check valid actions"
OnStep = Callable[[Step], None]
_CLOSING_S = 10.0
T = TypeVar("T")


@dataclass(frozen=True)
class Rules:
    """What an episode is played under, whatever the benchmark and the agent."""

    max_steps: int = 50
    step_timeout_s: float | None = None
    check_valid_actions: bool = False
    save_prompts: bool = True


@dataclass(frozen=True)
class Origin:
    """What produced a record; repeated in each of them."""

    run_id: str
    config_hash: str
    versions: dict[str, str]
    benchmark: str
    agent: str
    model: str | None = None


class EpisodePlayer:
    """One driver, one agent, one episode."""

    def __init__(
        self, driver: Driver, agent: Agent, task: Task, rules: Rules, seed: int = 0, trial: int = 0
    ) -> None:
        self.driver = driver
        self.agent = agent
        self.task = task
        self.rules = rules
        self.seed = seed
        self.trial = trial
        self.steps: list[Step] = []
        self.error: Failure | None = None
        self._agents_turn = False
        self._first: Observation | None = None
        self._end: Cause | None = None
        self._started = datetime.now(timezone.utc)
        self._clock = time.perf_counter()

    async def play(self, origin: Origin, on_step: OnStep | None = None) -> EpisodeRecord:
        """Play to the end, whatever it is. Only cancellation passes through."""
        self._first = self.driver.reset()
        end = await self._play(self._first, on_step or (lambda step: None))
        return self._record(origin, self._first, end)

    def cut_short(self, origin: Origin) -> EpisodeRecord | None:
        """What a cancelled episode came to, if it came to anything: its calls have cost money.

        One that was over, and only its agent not yet closed, has its score.
        """
        if self._first is None or (self._end is None and not self.steps):
            return None
        end = self._end or self._failed(Cause.CANCELLED, "stopped half-way")
        return self._record(origin, self._first, end)

    async def _play(self, first: Observation, on_step: OnStep) -> Cause:
        try:
            self._end = await self._to_its_end(first, on_step)
            return self._end
        finally:
            await self._close()

    async def _to_its_end(self, first: Observation, on_step: OnStep) -> Cause:
        driver = self.driver
        episode = Episode(
            self.task,
            driver.metrics.goal,
            driver.dialect,
            self.rules.max_steps,
            self.seed,
            driver,
        )
        try:
            await self._of_agent(self.agent.begin(episode))
            return await self._loop(first, on_step)
        except ModelError as error:
            return self._failed(Cause.MODEL_ERROR, error)
        except _NoAnswer as error:
            return self._failed(Cause.AGENT_TIMEOUT, str(error))
        except asyncio.CancelledError as error:
            if _is_being_cancelled():
                raise
            return self._failed(Cause.AGENT_ERROR, error)
        except (Exception, SystemExit) as error:
            # Others' code runs here: whatever it raises ends its own episode only.
            cause = Cause.AGENT_ERROR if self._agents_turn else Cause.ENVIRONMENT_ERROR
            return self._failed(cause, error)

    async def _of_agent(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for the agent, within the time it has for one answer."""
        limit = self.rules.step_timeout_s
        self._agents_turn = True
        done = await (work if limit is None else _within(work, limit))
        self._agents_turn = False
        return done

    async def _answer(self, observation: Observation) -> Answer:
        """An agent of the user's own may return anything."""
        answer = await self.agent.act(observation)
        if not isinstance(answer, Answer):
            raise TypeError(f"act() returned a {type(answer).__name__} instead of an Answer")
        if not (answer.action is None or isinstance(answer.action, str)):
            raise TypeError(f"the action is a {type(answer.action).__name__} instead of text")
        return answer

    async def _close(self) -> None:
        """An agent that cannot tidy up has played its episode all the same."""
        try:
            await _within(self.agent.close(), _CLOSING_S)
        except (Exception, SystemExit) as error:
            logger.warning("%s: closing the agent failed: %r", self.task.id, error)

    async def _loop(self, observation: Observation, on_step: OnStep) -> Cause:
        while not self.driver.outcome.done:
            if len(self.steps) >= self.rules.max_steps:
                return Cause.MAX_STEPS
            clock = time.perf_counter()
            answer = await self._of_agent(self._answer(observation))
            observation, valid = self._carry_out(answer, observation)
            step = self._step(answer, observation, valid, time.perf_counter() - clock)
            self._agents_turn = False
            self.steps.append(step)
            on_step(step)
        return Cause.WON if self.driver.outcome.success else Cause.LOST

    def _carry_out(self, answer: Answer, before: Observation) -> tuple[Observation, bool]:
        """The next observation, and whether the environment did what was asked."""
        driver = self.driver
        if answer.action is None:
            return _told(before, answer.told), False
        if self.rules.check_valid_actions and answer.action.lower() == CHECK_VALID_ACTIONS:
            return _told(before, f"Valid actions: {', '.join(before.admissible)}"), True
        valid = driver.accepts(answer.action)
        return driver.step(driver.action_class(value=answer.action)), valid

    def _step(self, answer: Answer, after: Observation, valid: bool, seconds: float) -> Step:
        outcome = self.driver.outcome
        self._agents_turn = True  # what it said is checked as it is written down
        prompt = answer.prompt if self.rules.save_prompts else ()
        return Step(
            index=len(self.steps) + 1,
            prompt=[Message(role=role, content=content) for role, content in prompt],
            reply=answer.reply,
            reasoning=answer.reasoning,
            action=answer.action,
            how=answer.how,
            valid=valid,
            observation=after.text,
            admissible=list(after.admissible),
            reward=outcome.reward,
            progress=outcome.progress,
            reachable=outcome.reachable,
            seconds=seconds,
            calls=[Call(**call._asdict()) for call in answer.calls],
        )

    def _failed(self, cause: Cause, error: BaseException | str) -> Cause:
        kind = type(error).__name__ if isinstance(error, BaseException) else cause.value
        self.error = Failure(kind=kind, message=str(error)[:2000])
        return cause

    def _record(self, origin: Origin, first: Observation, end: Cause) -> EpisodeRecord:
        driver, outcome = self.driver, self.driver.outcome
        return EpisodeRecord(
            run_id=origin.run_id,
            key=episode_key(self.task.id, self.trial),
            benchmark=origin.benchmark,
            task_id=self.task.id,
            task_type=self.task.task_type,
            split=self.task.split,
            trial=self.trial,
            seed=self.seed,
            problem=self.task.problem,
            data_hash=driver.data_hash,
            dialect=driver.dialect,
            goal=driver.metrics.goal,
            agent=origin.agent,
            model=origin.model,
            config_hash=origin.config_hash,
            versions=origin.versions,
            max_steps=self.rules.max_steps,
            first_observation=first.text,
            first_admissible=list(first.admissible),
            milestones=list(getattr(driver.metrics, "milestones", [])),
            steps=self.steps,
            end=end,
            success=outcome.success,
            reward=outcome.reward,
            progress=outcome.progress,
            repetition_rate=repetition_rate([step.action or step.reply for step in self.steps]),
            error=self.error,
            details=driver.details(),
            started_at=self._started.isoformat(timespec="seconds"),
            seconds=time.perf_counter() - self._clock,
        )


class _NoAnswer(Exception):
    """The agent used up its time."""


async def _within(work: Coroutine[Any, Any, T], seconds: float) -> T:
    """Its result, if it comes in time.

    Unlike `asyncio.wait_for` before Python 3.12 this never loses a cancellation, and
    never takes a time limit of the work's own for ours.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            raise _NoAnswer(f"no answer within {seconds:g} s")
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_CLOSING_S)


def _is_being_cancelled() -> bool:
    """Whether it is this task that is to end, rather than something the agent waited for.

    Python 3.10 cannot tell; there every cancellation ends the run.
    """
    task = asyncio.current_task()
    return task is None or not hasattr(task, "cancelling") or task.cancelling() > 0


def _told(before: Observation, text: str) -> Observation:
    """An observation that comes from the runner: the environment stands as it stood."""
    return Observation(text, False, True, text=text, admissible=before.admissible)


def versions() -> dict[str, str]:
    """The versions that decide what a record says."""
    return {"agentquest": __version__, "python": platform.python_version()}
