"""One episode, however its agent behaves: it ends with its own cause and harms nobody else."""

import asyncio
import sys
from dataclasses import replace
from typing import Any

import pytest

from agentquest.errors import ContextExceeded, ModelError
from agentquest.lib import Agent, Answer, Benchmark, Episode, Observation, Outcome
from agentquest.lib.parsing import PARSE_FAILURE
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.messages import Message
from agentquest.records.outcome import AgentFaults, End
from agentquest.running.episode import EpisodePlayer
from episode_players import a_player, an_episode, named_agent
from stairs import Stairs


async def played(
    homes: Benchmark, agent: Agent, seen: list[Step] | None = None, **given: Any
) -> EpisodeRecord:
    player = a_player(homes, agent, **{"max_steps": 5, **given})
    return await player.play(None if seen is None else lambda step, prompt: seen.append(step))


class Says(Agent):
    """Answers with what it was given, over and over."""

    def __init__(self, *answers: Any) -> None:
        self._answers = answers
        self._turn = -1
        self.told: list[Observation] = []
        self.closed = 0

    async def act(self, observation: Observation) -> Answer:
        self.told.append(observation)
        self._turn += 1
        said = self._answers[self._turn % len(self._answers)]
        return said if not isinstance(said, str) else Answer(said)  # type: ignore[no-any-return]

    async def close(self) -> None:
        self.closed += 1


class Raises(Agent):
    def __init__(self, error: BaseException, when: str = "act", after: int = 0) -> None:
        self._error, self._when, self._after = error, when, after

    async def begin(self, episode: Episode) -> None:
        if self._when == "begin":
            raise self._error

    async def act(self, observation: Observation) -> Answer:
        self._after -= 1
        if self._when == "act" and self._after < 0:
            raise self._error
        return Answer("look")

    async def close(self) -> None:
        if self._when == "close":
            raise self._error


class Hangs(Agent):
    def __init__(self, when: str = "act") -> None:
        self._when = when
        self.given_up = False

    async def begin(self, episode: Episode) -> None:
        if self._when == "begin":
            await asyncio.sleep(3600)

    async def act(self, observation: Observation) -> Answer:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            self.given_up = True
            raise
        return Answer("look")


class Patient(Says):
    """Lets others go first before it answers and when it closes."""

    async def act(self, observation: Observation) -> Answer:
        await asyncio.sleep(0)
        return await super().act(observation)

    async def close(self) -> None:
        await asyncio.sleep(0)


async def test_a_won_game_is_recorded_in_full(homes: Benchmark) -> None:
    record = await played(homes, named_agent("oracle", homes), max_steps=50)
    assert record.end is End.SOLVED
    assert record.scored
    assert (record.success, record.reward, record.progress) == (True, 1.0, 1.0)
    assert record.key == f"{homes.tasks()[0].id}#1"
    assert (record.seed, record.trial, record.max_steps) == (3, 1, 50)
    assert [step.index for step in record.steps] == list(range(1, len(record.steps) + 1))
    assert all(step.valid and step.reachable for step in record.steps)
    assert [step.progress for step in record.steps] == sorted(s.progress for s in record.steps)
    assert record.first_admissible
    assert record.steps[0].admissible != record.first_admissible
    assert record.data_hash
    assert record.milestones
    assert record.error is None


async def test_the_step_limit_is_a_score_of_its_own_kind(homes: Benchmark) -> None:
    seen: list[Step] = []
    record = await played(homes, Says("look"), seen)
    assert (record.end, record.success, record.scored) == (End.STEP_LIMIT, False, True)
    assert record.steps == seen
    assert len(seen) == 5
    assert record.repetition_rate == 1.0


async def test_a_win_with_the_very_last_step_is_a_win(homes: Benchmark) -> None:
    long = await played(homes, named_agent("oracle", homes), max_steps=50)
    exact = await played(homes, named_agent("oracle", homes), max_steps=len(long.steps))
    short = await played(homes, named_agent("oracle", homes), max_steps=len(long.steps) - 1)
    assert (exact.end, short.end) == (End.SOLVED, End.STEP_LIMIT)


async def test_a_reply_without_an_action_costs_a_step_and_is_told(homes: Benchmark) -> None:
    agent = Says(Answer(None, how="missing", reply="Hm."), "look")
    record = await played(homes, agent)
    first = record.steps[0]
    assert (first.action, first.valid, first.how, first.reply) == (None, False, "missing", "Hm.")
    assert first.observation == agent.told[1].text == PARSE_FAILURE
    assert agent.told[1].admissible == agent.told[0].admissible
    assert record.actions[:2] == ["invalid:hm.", "look"]
    assert record.invalid_actions == 3


async def test_replies_that_cannot_be_read_repeat_only_if_they_are_alike(homes: Benchmark) -> None:
    unlike = [Answer(None, reply=text * 9) for text in "abcde"]
    record = await played(homes, Says(*unlike))
    assert record.repetition_rate == 0.0
    record = await played(homes, Says(unlike[0]))
    assert record.repetition_rate == 1.0


class TooEarly(Stairs):
    """Counts as solved on the way."""

    @property
    def outcome(self) -> Outcome:
        return replace(super().outcome, done=False, success=True)


async def test_a_game_that_does_not_end_as_solved_is_no_success(homes: Benchmark) -> None:
    spec = a_player(homes, Says("up"), max_steps=2).spec
    player = EpisodePlayer(spec, TooEarly(), Says("up"), lambda driver: an_episode(homes))
    record = await player.play()
    assert (record.end, record.success) == (End.STEP_LIMIT, False)


async def test_a_command_the_game_does_not_know_is_invalid_and_never_replaced(
    homes: Benchmark,
) -> None:
    record = await played(homes, Says("fly to the moon"))
    assert {(s.action, s.valid, s.observation) for s in record.steps} == {
        ("fly to the moon", False, "Nothing happens.")
    }
    assert record.steps[0].admissible == record.first_admissible


async def test_what_the_agent_answers_itself_costs_a_step_and_asks_nobody(
    homes: Benchmark,
) -> None:
    agent = Says("look", Answer("think hard", told="I thought.", answered=True))
    record = await played(homes, agent, max_steps=3)
    asked = record.steps[1]
    assert (asked.action, asked.valid, asked.observation) == ("think hard", True, "I thought.")
    assert asked.admissible == record.steps[0].admissible
    assert len(record.steps) == 3


async def test_giving_up_is_a_score_and_carries_nothing_out(homes: Benchmark) -> None:
    record = await played(homes, Says("look", Answer("go to desk 1", give_up=True, reply="No.")))
    assert (record.end, record.scored, record.success) == (End.GAVE_UP, True, False)
    assert [step.how for step in record.steps] == ["verbatim", "gave_up"]
    assert record.steps[1].observation == record.steps[0].observation
    assert not record.steps[1].valid


async def test_a_prompt_that_no_longer_fits_is_a_truncation_and_a_score(homes: Benchmark) -> None:
    record = await played(homes, Raises(ContextExceeded("8192 tokens"), after=2))
    assert (record.end, record.scored, len(record.steps)) == (End.CONTEXT_LIMIT, True, 2)
    assert record.end.truncated
    assert not record.success


@pytest.mark.parametrize(("policy", "scored"), [(AgentFaults.LOSE, True), (AgentFaults.OWE, False)])
async def test_what_an_agents_crash_or_silence_means_is_a_policy(
    homes: Benchmark, policy: AgentFaults, scored: bool
) -> None:
    for agent in (Raises(RuntimeError("boom"), after=1), Hangs()):
        record = await played(homes, agent, agent_faults=policy, step_timeout_s=0.05)
        assert (record.end, record.scored, record.success) == (End.AGENT_FAULT, scored, False)
    failing = await played(homes, Raises(ModelError("503")), agent_faults=policy)
    assert (failing.end, failing.scored) == (End.INFRASTRUCTURE_FAULT, False)


async def test_what_was_said_twice_is_kept_once(homes: Benchmark) -> None:
    system = Message(role="system", content="the rules, at length")
    answers = [
        Answer("look", prompt=(system, Message(role="user", content=f"turn {number}")))
        for number in range(5)
    ]
    record = await played(homes, Says(*answers))
    assert [message.content for message in record.messages] == [
        "the rules, at length",
        *(f"turn {number}" for number in range(5)),
    ]
    assert record.prompt(record.steps[3]) == list(answers[3].prompt)


@pytest.mark.parametrize("when", ["begin", "act"])
@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("boom"),
        KeyError("k"),
        RecursionError("deep"),
        SystemExit(3),
        TimeoutError("mine"),
    ],
)
async def test_an_agent_that_raises_ends_its_episode_without_a_score(
    homes: Benchmark, error: BaseException, when: str
) -> None:
    record = await played(homes, Raises(error, when, after=2))
    assert (record.end, record.scored) == (End.AGENT_FAULT, False)
    assert record.error is not None
    assert record.error.kind == type(error).__name__
    assert len(record.steps) == (2 if when == "act" else 0)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 cannot tell whose it is")
async def test_a_cancellation_inside_the_agent_is_the_agents_own(homes: Benchmark) -> None:
    record = await played(homes, Raises(asyncio.CancelledError("inside"), after=1))
    assert (record.end, len(record.steps)) == (End.AGENT_FAULT, 1)


async def test_a_failing_model_is_told_from_a_failing_agent(homes: Benchmark) -> None:
    record = await played(homes, Raises(ModelError("503"), after=1))
    assert (record.end, record.scored) == (End.INFRASTRUCTURE_FAULT, False)


async def test_an_agent_that_cannot_tidy_up_keeps_its_score(
    homes: Benchmark, caplog: pytest.LogCaptureFixture
) -> None:
    record = await played(homes, Raises(RuntimeError("boom"), "close"))
    assert (record.end, record.error) == (End.STEP_LIMIT, None)
    assert "closing the agent failed: RuntimeError: boom at test_episode.py" in caplog.text


async def test_an_agent_is_closed_however_it_ends(homes: Benchmark) -> None:
    for said in ("look", Answer(5), None):  # type: ignore[arg-type]
        agent = Says(said)
        await played(homes, agent)
        assert agent.closed == 1


@pytest.mark.parametrize("when", ["begin", "act"])
async def test_an_agent_that_hangs_is_given_up(homes: Benchmark, when: str) -> None:
    agent = Hangs(when)
    record = await played(homes, agent, step_timeout_s=0.05)
    assert (record.end, record.scored) == (End.AGENT_FAULT, False)
    assert record.error is not None
    assert record.error.message == "no answer within 0.05 s"
    assert agent.given_up is (when == "act")


@pytest.mark.parametrize(
    "said",
    [
        None,
        5,
        "text",
        Answer(5),  # type: ignore[arg-type]
        Answer(["look"]),  # type: ignore[arg-type]
        Answer("look", reply=5),  # type: ignore[arg-type]
        Answer("look", how=None),  # type: ignore[arg-type]
        Answer("look", prompt=5),  # type: ignore[arg-type]
        Answer("look", prompt=("user",)),  # type: ignore[arg-type]
        Answer("look", calls=("call",)),  # type: ignore[arg-type]
        Answer("look", tool_calls=("call",)),  # type: ignore[arg-type]
    ],
)
async def test_what_is_no_answer_ends_the_episode_as_the_agents_error(
    homes: Benchmark, said: Any
) -> None:
    class Garbage(Agent):
        async def act(self, observation: Observation) -> Answer:
            return said  # type: ignore[no-any-return]

    record = await played(homes, Garbage())
    assert record.end is End.AGENT_FAULT
    assert record.steps == []
    assert EpisodeRecord.model_validate_json(record.model_dump_json()) == record


async def test_an_act_that_is_no_coroutine_is_the_agents_error(homes: Benchmark) -> None:
    class NotAsync(Agent):
        def act(self, observation: Observation) -> Answer:  # type: ignore[override]
            return Answer("look")

    record = await played(homes, NotAsync())
    assert record.end is End.AGENT_FAULT
    assert record.error is not None
    assert "define it with `async def act`" in record.error.message


async def test_a_failing_environment_is_told_from_a_failing_agent(homes: Benchmark) -> None:
    task = homes.tasks()[0]
    driver = homes.driver(task)

    def broken(*given: object) -> None:
        raise RuntimeError("the house burnt down")

    driver.step = broken  # type: ignore[method-assign, assignment]
    player = a_player(homes, Says("look"))
    player.driver = driver
    record = await player.play()
    assert (record.end, record.scored) == (End.INFRASTRUCTURE_FAULT, False)


async def test_a_time_limit_of_the_agents_own_is_not_taken_for_ours(homes: Benchmark) -> None:
    record = await played(homes, Raises(TimeoutError("mine"), after=1), step_timeout_s=60.0)
    assert record.end is End.AGENT_FAULT
    assert record.error is not None
    assert record.error.message.startswith("TimeoutError: mine at test_episode.py:")


async def test_prompts_are_left_out_where_they_are_not_wanted(homes: Benchmark) -> None:
    answer = Answer("look", prompt=(Message(role="user", content="hello"),))
    kept = await played(homes, Says(answer))
    dropped = await played(homes, Says(answer), save_prompts=False)
    assert kept.prompt(kept.steps[0]) == list(answer.prompt)
    assert (dropped.steps[0].prompt, dropped.messages) == ([], [])


async def test_a_game_that_is_over_keeps_its_score_when_it_is_cancelled_while_closing(
    homes: Benchmark,
) -> None:
    closing = asyncio.Event()

    class NeverReady(Says):
        async def close(self) -> None:
            closing.set()
            await asyncio.sleep(3600)

    player = a_player(homes, NeverReady("look"), max_steps=2)
    playing = asyncio.create_task(player.play())
    await closing.wait()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    record = player.cut_short()
    assert record is not None
    assert (record.end, record.scored) == (End.STEP_LIMIT, True)


@pytest.mark.parametrize("limit", [None, 60.0])
async def test_a_cancellation_is_never_lost_however_close_the_answer(
    homes: Benchmark, limit: float | None
) -> None:
    """Cancelled after any number of turns of the event loop, an episode ends."""
    for turns in range(40):
        player = a_player(homes, Patient("look"), max_steps=10**6, step_timeout_s=limit)
        playing = asyncio.create_task(player.play())
        for _ in range(turns):
            await asyncio.sleep(0)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        assert len(player.steps) <= turns


async def test_cancelling_an_episode_leaves_what_it_came_to(homes: Benchmark) -> None:
    class Slow(Says):
        async def act(self, observation: Observation) -> Answer:
            if self._turn == 2:
                await asyncio.sleep(3600)
            return await super().act(observation)

    agent = Slow("look")
    player = a_player(homes, agent)
    assert player.cut_short() is None
    playing = asyncio.create_task(player.play())
    for _ in range(1000):
        await asyncio.sleep(0)
        if len(player.steps) == 3:
            break
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    record = player.cut_short()
    assert record is not None
    assert (record.end, record.scored, len(record.steps)) == (End.CANCELLED, False, 3)
    assert agent.closed == 1
