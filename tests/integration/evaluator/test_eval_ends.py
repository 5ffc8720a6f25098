"""What counts as a score: crashes by policy, giving up, and a context that is full."""

import re
from pathlib import Path

import pytest
from evaluator_runs import evaluate, outcomes, results
from explorer_answers import answer

from agentquest.errors import ConfigError
from agentquest.records.outcome import AgentFaults, End
from chat_faults import Fault
from chat_server import ChatServer

MOODY = ["num_games=12", "step_timeout_s=0.3", "parallel=12"]


@pytest.mark.parametrize(("policy", "scored", "owed"), [("owe", 4, 8), ("lose", 12, 0)])
async def test_an_agent_s_crash_is_owed_or_lost_as_the_policy_says(
    tmp_path: Path, odd: str, policy: str, scored: int, owed: int
) -> None:
    run, _ = await evaluate(tmp_path, f"agent={odd}:Moody", f"agent_faults={policy}", *MOODY)
    assert run.stored.manifest.agent_faults is AgentFaults(policy)
    faults = [record for record in run.directory.records() if record.end is End.AGENT_FAULT]
    assert len(faults) == 8
    assert {record.scored for record in faults} == {policy == "lose"}
    assert not any(record.success for record in faults)
    summary = results(run.directory.path)["summary"]
    assert (summary["total_games"], summary["successes"]) == (scored, 4)
    assert len(run.prepare()) == owed


async def test_the_policy_names_the_run_and_cannot_change_within_it(
    tmp_path: Path, odd: str
) -> None:
    arguments = [f"agent={odd}:Polite", "num_games=1", "run_name=r"]
    await evaluate(tmp_path, *arguments)
    with pytest.raises(ConfigError, match="agent_faults: was 'owe', is 'lose'"):
        await evaluate(tmp_path, *arguments, "agent_faults=lose")


async def test_giving_up_is_a_score_and_carries_nothing_out(tmp_path: Path, odd: str) -> None:
    run, reason = await evaluate(tmp_path, "num_games=6", f"agent={odd}:GivesUp")
    assert (reason, run.pending) == (None, [])
    for record in run.directory.records():
        assert (record.end, record.scored, record.success) == (End.GAVE_UP, True, False)
        assert record.error is None
        assert [step.how for step in record.steps] == ["polite", "polite", "gave_up"]
        last = record.steps[-1]
        assert (last.action, last.valid) == (None, False)
        assert last.reply == "I have had enough"
        assert last.progress == record.steps[-2].progress
    assert results(run.directory.path)["summary"]["success_rate"] == 0.0


async def test_a_full_context_is_a_truncation_and_the_run_is_complete(tmp_path: Path) -> None:
    """It would be the same each time it is played again: so it is the agent's score."""
    turns = 3

    async with ChatServer(answer, script=[None] * turns, rates={Fault.CONTEXT: 1.0}) as server:
        arguments = [
            "num_games=2",
            "parallel=1",
            "run_name=r",
            "llm.model=small",
            "agent.history_length=60",
            f"llm.base_url={server.url}",
        ]
        run, reason = await evaluate(tmp_path, *arguments)
        asked = server.count
        assert (reason, run.pending) == (None, [])
        first, second = run.directory.records()
        assert (len(first.steps), len(second.steps)) == (turns, 0)
        for record in (first, second):
            assert (record.end, record.scored, record.success) == (End.CONTEXT_LIMIT, True, False)
            assert record.error is not None
            assert "maximum context length" in record.error.message
        assert asked == turns + 2, "not asked again: the answer would be the same"
        before = outcomes(tmp_path / "r")
        await evaluate(tmp_path, *arguments)
        assert server.count == asked
    assert outcomes(tmp_path / "r") == before
    assert results(tmp_path / "r")["summary"]["total_games"] == 2


async def test_what_the_api_does_wrong_is_never_a_loss_even_where_crashes_are(
    tmp_path: Path,
) -> None:
    """Numbers that no float holds, half replies, no content: the games are those of a good API."""
    wrong = (Fault.ABSURD_COST, Fault.ABSURD_COUNT, Fault.ABSURD_WAIT, Fault.NO_CONTENT)
    rates = dict.fromkeys((*wrong, Fault.ERROR_FINISH), 0.08)
    arguments = ["num_games=6", "agent_faults=lose", "agent.history_length=60", "llm.model=m"]
    arguments += ["llm.wait_interval=0.01", "llm.price_per_million_prompt=1"]
    arguments += ["llm.price_per_million_completion=1", "llm.tokens_per_minute=100000000"]

    async def solved(name: str, rates: dict[Fault, float]) -> list[tuple[str, bool, int]]:
        async with ChatServer(answer, rates=rates) as server:
            run, reason = await evaluate(
                tmp_path, *arguments, f"run_name={name}", f"llm.base_url={server.url}"
            )
        assert (reason, run.pending) == (None, [])
        records = sorted(run.directory.records(), key=lambda record: record.key)
        return [(one.key, one.success, len(one.steps)) for one in records]

    assert await solved("faulty", rates) == await solved("sound", {})


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("raises", r"^Failing\.complete: KeyError: 'choices' at \w+\.py:\d+$"),
        ("exits", r"^Failing\.complete: SystemExit: enough at \w+\.py:\d+$"),
        ("texts", r"^Failing\.complete returned a str instead of a Reply$"),
        ("hangs step_timeout_s=1", r"^no reply of the model within 1 s$"),
    ],
)
async def test_a_model_of_one_s_own_that_gives_no_reply_is_no_loss(
    tmp_path: Path, odd: str, how: str, said: str
) -> None:
    model, *more = how.split()
    arguments = [f"llm.provider={odd}:Failing", f"llm.model={model}", "agent_faults=lose"]
    run, _ = await evaluate(tmp_path, *arguments, "num_games=1", *more)
    (record,) = run.directory.records()
    assert (record.end, record.scored) == (End.INFRASTRUCTURE_FAULT, False)
    assert record.error is not None
    assert re.match(said, record.error.message)
