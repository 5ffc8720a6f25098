"""Running: parallel like sequential, agents of one's own, and who is to blame for what."""

import asyncio
import os
from pathlib import Path

import pytest
from evaluator_runs import evaluate, outcomes, results
from explorer_answers import answer, echo_of_the_goal

from agentquest.errors import ConfigError, UnknownName
from agentquest.records.outcome import End
from agentquest.running.events import RunEvents
from agentquest.store.folder import RunFolder
from chat_faults import Fault
from chat_server import ChatServer

SIX = "num_games=6"


async def test_parallel_results_are_the_sequential_ones(tmp_path: Path) -> None:
    async with ChatServer(answer, latency=0.02) as server:
        for parallel in (1, 64):
            await evaluate(
                tmp_path,
                "num_games=36",
                "max_steps=9",
                f"parallel={parallel}",
                f"run_name=p{parallel}",
                "agent.history_length=60",
                "llm.model=rules",
                f"llm.base_url={server.url}",
            )
        assert server.most_in_flight > 4
    one, many = tmp_path / "p1", tmp_path / "p64"
    assert len(outcomes(one)) == 36
    assert outcomes(one) == outcomes(many)
    # The episodes finish in another order, but the results stand in that of the tasks.
    keys = [[record.key for record in RunFolder(run).tries()] for run in (one, many)]
    assert keys[0] != keys[1]
    assert sorted(keys[0]) == sorted(keys[1])
    assert results(one)["results"] == results(many)["results"]


async def test_the_scripted_model_plays_the_same_in_parallel(tmp_path: Path) -> None:
    for parallel in (1, 64):
        await evaluate(tmp_path, "num_games=30", f"parallel={parallel}", f"run_name=p{parallel}")
    assert outcomes(tmp_path / "p1") == outcomes(tmp_path / "p64")


async def test_no_more_than_asked_for_are_under_way_at_once(tmp_path: Path) -> None:
    async with ChatServer(answer, latency=0.01) as server:
        await evaluate(
            tmp_path,
            "num_games=12",
            "parallel=5",
            "max_steps=4",
            "agent.history_length=60",
            "llm.model=rules",
            f"llm.base_url={server.url}",
        )
        assert server.most_in_flight == 5


async def test_an_agent_of_ones_own_by_its_dotted_path(tmp_path: Path, odd: str) -> None:
    evaluation, reason = await evaluate(
        tmp_path, SIX, f"agent.name={odd}:Polite", "agent.word=kindly"
    )
    assert reason is None
    records = evaluation.directory.records()
    assert len(records) == 6
    assert all(record.success for record in records)
    assert all(step.how == "polite" for record in records for step in record.steps)
    assert records[0].steps[0].reply.startswith("kindly: ")
    assert records[0].agent == f"{odd}:Polite"
    assert records[0].model is None


async def test_an_agent_of_ones_own_may_ask_the_model_and_is_recorded_with_it(
    tmp_path: Path, odd: str
) -> None:
    async with ChatServer(lambda messages: "ACTION: look") as server:
        evaluation, _ = await evaluate(
            tmp_path,
            "num_games=1",
            "max_steps=2",
            f"agent.name={odd}:Asks",
            "llm.model=m-7",
            f"llm.base_url={server.url}",
        )
    (record,) = evaluation.directory.records()
    assert [step.action for step in record.steps] == ["look", "look"]
    assert record.model == results(evaluation.directory.path)["model"] == "m-7"


async def test_a_model_that_is_configured_but_not_asked_is_not_recorded(tmp_path: Path) -> None:
    evaluation, _ = await evaluate(
        tmp_path, "num_games=1", "agent.name=oracle", "llm.model=m-7", "run_name=r"
    )
    (record,) = evaluation.directory.records()
    assert record.model is None
    assert results(tmp_path / "r")["model"] == "oracle"


async def test_a_misbehaving_agent_ends_its_own_episodes_only(tmp_path: Path, odd: str) -> None:
    evaluation, reason = await evaluate(
        tmp_path, "num_games=12", f"agent.name={odd}:Moody", "step_timeout_s=0.3", "parallel=12"
    )
    assert reason is None
    ends = {
        (record.task_type, record.end, record.error.kind if record.error else None)
        for record in evaluation.directory.records()
    }
    assert ends == {
        ("pick_and_place_simple", End.SOLVED, None),
        ("pick_clean_then_place_in_recep", End.SOLVED, None),
        ("look_at_obj_in_light", End.AGENT_FAULT, "RuntimeError"),
        ("pick_heat_then_place_in_recep", End.AGENT_FAULT, "ValueError"),
        ("pick_cool_then_place_in_recep", End.AGENT_FAULT, "timeout"),
        ("pick_two_obj_and_place", End.AGENT_FAULT, "TypeError"),
    }
    assert results(evaluation.directory.path)["summary"]["total_games"] == 4
    # What has no score is owed, and only that.
    assert len(evaluation.prepare()) == 8


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("CannotBeMade", ConfigError, "cannot be made: KeyError: 'no brain'"),
        ("WantsTheBenchmark", ConfigError, "its constructor asks for 'benchmark'"),
        ("NoAgent", ConfigError, "is NoAgent, not a subclass of agentquest.lib.Agent"),
        ("NOT_A_CLASS", ConfigError, "is a int, not a subclass of agentquest.lib.Agent"),
        ("Missing", UnknownName, "cannot be imported"),
    ],
)
async def test_what_is_no_agent_is_refused_in_one_line(
    tmp_path: Path, odd: str, name: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        await evaluate(tmp_path, SIX, f"agent.name={odd}:{name}")


async def test_settings_an_agent_does_not_know_are_refused_before_anything_is_made(
    tmp_path: Path, odd: str
) -> None:
    with pytest.raises(ConfigError, match=r"agent\.wrd: unknown key; did you mean 'word'"):
        await evaluate(tmp_path, SIX, f"agent.name={odd}:Polite", "agent.wrd=x")
    assert set(os.listdir(tmp_path)) == {"modules"}  # noqa: PTH208


async def one_reply(tmp_path: Path, server: ChatServer, *more: str) -> RunFolder:
    evaluation, reason = await evaluate(
        tmp_path,
        "num_games=2",
        "max_steps=3",
        "llm.model=m",
        "agent.history_length=60",
        f"llm.base_url={server.url}",
        *more,
    )
    assert reason is None
    return evaluation.directory


@pytest.mark.parametrize(
    ("fault", "how"), [(Fault.LENGTH, "truncated"), (Fault.THINK_CUT, "truncated")]
)
async def test_cut_off_replies_are_a_class_of_their_own(
    tmp_path: Path, fault: Fault, how: str
) -> None:
    async with ChatServer(answer, rates={fault: 1.0}) as server:
        run = await one_reply(tmp_path, server)
    for record in run.records():
        assert (record.end, record.scored) == (End.STEP_LIMIT, True)
        assert [(s.action, s.how, s.valid) for s in record.steps] == [(None, how, False)] * 3
        assert {call.kind for call in record.calls} == {how}


async def test_empty_replies_are_a_class_of_their_own(tmp_path: Path) -> None:
    async with ChatServer(lambda messages: " \n ") as server:
        run = await one_reply(tmp_path, server)
    assert {step.how for record in run.records() for step in record.steps} == {"empty"}


async def test_replies_that_cannot_be_read_cost_their_steps(tmp_path: Path) -> None:
    async with ChatServer(echo_of_the_goal) as server:
        run = await one_reply(tmp_path, server)
        assert server.count == 6
    for record in run.records():
        assert record.end is End.STEP_LIMIT
        assert {step.how for step in record.steps} == {"missing"}
        assert {step.reply for step in record.steps} == {f"I wonder how to {record.goal}, really?"}
        assert record.invalid_actions == 3


async def test_reasoning_is_kept_apart_and_never_parsed(tmp_path: Path) -> None:
    async with ChatServer(answer, rates={Fault.THINK_TAGS: 1.0}) as server:
        run = await one_reply(tmp_path, server)
    for record in run.records():
        assert {step.reasoning for step in record.steps} == {"Hm."}
        assert all(step.action for step in record.steps)


async def test_a_wrong_key_stops_the_run_at_once(tmp_path: Path) -> None:
    async with ChatServer(answer, api_key="the right one") as server:
        evaluation, reason = await evaluate(
            tmp_path,
            "num_games=60",
            "parallel=4",
            "llm.model=m",
            "llm.api_key=the wrong one 123",
            f"llm.base_url={server.url}",
        )
        assert server.count <= 8
    assert reason is not None
    assert reason.startswith("HTTP 401: Wrong key.")
    records = evaluation.directory.records()
    assert {record.end for record in records} == {End.INFRASTRUCTURE_FAULT}
    assert len(evaluation.prepare()) == 60
    assert results(evaluation.directory.path)["summary"]["total_games"] == 0


async def test_a_server_that_is_gone_stops_the_run_after_a_while(tmp_path: Path) -> None:
    _, reason = await evaluate(
        tmp_path,
        "num_games=60",
        "parallel=2",
        "llm.model=m",
        "llm.base_url=http://127.0.0.1:9/v1",
        "llm.max_retries=0",
    )
    assert reason is not None
    assert reason.startswith("the model failed 25 episodes in a row: connection failed")


PRICES = ["llm.price_per_million_prompt=1000", "llm.price_per_million_completion=0"]


async def test_a_cost_limit_stops_cleanly_and_also_counts_what_was_cut_short(
    tmp_path: Path,
) -> None:
    async with ChatServer(answer) as server:
        arguments = [
            "num_games=24",
            "parallel=4",
            "max_steps=8",
            "run_name=r",
            "llm.model=m",
            "agent.history_length=60",
            f"llm.base_url={server.url}",
            *PRICES,
        ]
        evaluation, reason = await evaluate(tmp_path, *arguments, "cost_limit=30")
        assert reason is not None
        assert reason.startswith("the cost limit of 30 is reached")
        spent = sum(call.cost or 0.0 for r in evaluation.directory.tries() for call in r.calls)
        # A step of each episode under way may come on top of the limit, and no more.
        assert 30 <= spent < 40
        assert any(record.end is End.CANCELLED for record in evaluation.directory.records())
        asked = server.count
        _, again = await evaluate(tmp_path, *arguments, "cost_limit=30")
        assert server.count == asked
        assert again is not None
        _, further = await evaluate(tmp_path, *arguments, "cost_limit=3000")
        assert further is None
    assert len(evaluation.directory.records()) == 24
    assert all(record.scored for record in evaluation.directory.records())


@pytest.mark.parametrize("fault", [Fault.NO_USAGE, Fault.COST])
async def test_a_cost_limit_holds_whatever_the_server_counts(tmp_path: Path, fault: Fault) -> None:
    """Without counts costs are estimated, and said to be; a cost the server states is believed."""
    told: list[str] = []

    class Told(RunEvents):
        def noted(self, text: str) -> None:
            told.append(text)

    async with ChatServer(answer, rates={fault: 1.0}) as server:
        arguments = [
            *("num_games=24", "parallel=2", "run_name=r", "llm.model=m", "cost_limit=20"),
            "agent.history_length=60",
            f"llm.base_url={server.url}",
            *PRICES,
        ]
        evaluation, reason = await evaluate(tmp_path, *arguments, watcher=Told())
        calls = [call for record in evaluation.directory.tries() for call in record.calls]
        asked = server.count
        _, again = await evaluate(tmp_path, *arguments, watcher=Told())
    assert reason is not None
    if fault is Fault.COST:
        assert reason.startswith("the cost limit of 20 is reached (20.")
        assert {call.cost for call in calls} == {0.25}
        assert again is not None
        assert server.count == asked
        assert told == []
    else:
        assert reason.startswith("the cost limit of 20 is reached (about ")
        assert {call.cost for call in calls} == {None}, "no estimate is ever recorded"
        assert "the server reports no token counts" in told[0]
        # About four letters a token: far from every call being free.
        assert 5 < len(calls) < 40
        # The next part knows of the first's calls as soon as it can tell what one costs.
        assert again is not None
        assert server.count <= asked + 4


async def test_stopping_saves_what_is_finished_and_what_was_begun(tmp_path: Path) -> None:
    stop = asyncio.Event()
    async with ChatServer(answer, latency=0.005) as server:
        arguments = [
            "num_games=24",
            "parallel=4",
            "run_name=r",
            "llm.model=m",
            "agent.history_length=60",
            f"llm.base_url={server.url}",
        ]
        running = asyncio.create_task(evaluate(tmp_path, *arguments, stop=stop))
        file = tmp_path / "r" / "episodes.jsonl"
        for _ in range(4000):
            await asyncio.sleep(0.005)
            if file.is_file() and file.read_bytes().count(b"\n") >= 3:
                break
        stop.set()
        evaluation, reason = await running
        assert reason is None
        stopped = evaluation.directory.records()
        finished = {record.key for record in stopped if record.scored}
        assert 3 <= len(finished) < 24
        assert {r.end for r in stopped if not r.scored} <= {End.CANCELLED}
        assert len(results(tmp_path / "r")["results"]) == len(finished)
        await evaluate(tmp_path, *arguments)
    keys = [record.key for record in evaluation.directory.tries() if record.scored]
    assert len(keys) == len(set(keys)) == 24


async def test_trials_are_episodes_of_their_own_with_seeds_of_their_own(tmp_path: Path) -> None:
    async with ChatServer(answer) as server:
        evaluation, _ = await evaluate(
            tmp_path,
            "num_games=2",
            "trials=3",
            "max_steps=2",
            "llm.model=m",
            "llm.seed=100",
            "agent.history_length=60",
            f"llm.base_url={server.url}",
        )
        seeds = {request["seed"] for request in server.requests}
    assert seeds == {100, 101, 102}
    records = evaluation.directory.records()
    assert len({record.key for record in records}) == 6
    assert len({record.seed for record in records}) == 6
    assert {record.trial for record in records} == {0, 1, 2}
