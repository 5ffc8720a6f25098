"""An A2A agent evaluated as any other agent is: `agentquest eval agent=a2a agent.url=…`."""

import asyncio

import pytest

from agentquest.api import prepare_run
from agentquest.config import load_config
from agentquest.errors import ConfigError
from agentquest.records.outcome import AgentFaults, End
from agentquest.running.events import RunEvents
from agentquest.running.run import Run


def config(folder, url, **more):
    given, _ = load_config(
        settings={
            "agent": {"name": "a2a", "url": url},
            "benchmark_settings": {"data_path": "builtin"},
            "num_games": 4,
            "max_steps": 30,
            "output_dir": folder,
            **more,
        }
    )
    return given


def played(run, specs=None):
    specs = run.prepare() if specs is None else specs
    asyncio.run(run.play(specs, RunEvents(), asyncio.Event(), lambda running: None))
    return {record.key: record for record in run.directory.records()}


def test_over_a2a_as_in_process(tmp_path, scripted):
    there = played(Run(config(tmp_path, scripted)))
    here = played(Run(config(tmp_path, "", agent="scripted")))
    assert len(there) == 4
    assert {key: record.actions for key, record in there.items()} == {
        key: record.actions for key, record in here.items()
    }


def test_a_run_goes_on_where_it_stopped(tmp_path, scripted):
    run = Run(config(tmp_path, scripted))
    first, *others = run.prepare()
    before = played(run, [first])
    again = Run(config(tmp_path, scripted))
    assert [spec.key for spec in again.prepare()] == [spec.key for spec in others]
    assert played(again)[first.key] == before[first.key]


def test_what_a_crash_means_is_a_setting(tmp_path, strange):
    owed = Run(config(tmp_path, f"{strange}error/", num_games=1))
    (record,) = played(owed).values()
    assert (record.end, record.scored) == (End.AGENT_FAULT, False)
    assert len(owed.prepare()) == 1
    lost = Run(config(tmp_path, f"{strange}error/", num_games=1, agent_faults=AgentFaults.LOSE))
    (record,) = played(lost).values()
    assert (record.scored, record.success) == (True, False)
    assert lost.prepare() == []


def test_another_address_is_another_run(tmp_path, served):
    one, two = (Run(config(tmp_path, f"{served}{kind}/")) for kind in ("scripted", "oracle"))
    assert one.run_id != two.run_id


@pytest.mark.parametrize(
    ("overrides", "problem"),
    [
        (["agent=a2a"], "agent.url"),
        (["agent=a2a", "agent.url=localhost"], "must be an address"),
        (["agent=a2a", "agent.url=http://me:hidden@localhost/"], "must not contain a user"),
        (["agent=a2a", "agent.url=http://localhost/", "agent.turns=1"], "turns: unknown key"),
    ],
)
def test_wrong_settings_are_named(overrides, problem):
    with pytest.raises(ConfigError, match=problem) as caught:
        load_config(None, overrides)
    assert "hidden" not in str(caught.value)


def test_a_run_is_of_one_agent(tmp_path, scripted):
    """It names the agent on the card, and another agent at the same address is refused."""
    run = Run(config(tmp_path, scripted))
    first, *_ = asyncio.run(prepare_run(run))[0]
    name = "AgentQuest white agent (scripted)"
    assert played(run, [first])[first.key].agent == name
    assert run.stored.manifest.agent == name
    begun = run.stored.manifest.model_copy(
        update={"assessed": run.assessed.model_copy(update={"name": "another"})}
    )
    run.directory.create(run.config.to_yaml(), begun)
    with pytest.raises(ConfigError, match=r"name: was 'another', is 'AgentQuest white agent"):
        asyncio.run(prepare_run(Run(config(tmp_path, scripted))))
