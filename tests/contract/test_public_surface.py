"""The names users import, and what every registered part must keep to."""

import asyncio
import pickle

import pytest

import agentquest.lib
from agentquest import registry
from agentquest.benchmarks import alfworld, webshop
from agentquest.lib import Agent, Answer, Benchmark, Driver, Explorer
from agentquest.running.assemble import make_agent, make_benchmark
from agentquest.running.one_episode import EpisodePlayer, Origin, Rules, versions

BUILTIN = {"alfworld": {"data_path": "builtin"}, "webshop": {"data_path": "builtin"}}
BENCHMARKS = sorted(BUILTIN)


def test_exported_names_of_the_library_are_these_and_no_others() -> None:
    assert set(agentquest.lib.__all__) == {
        "Action",
        "Agent",
        "Answer",
        "Benchmark",
        "Demonstration",
        "Driver",
        "Episode",
        "Explorer",
        "Interaction",
        "Metrics",
        "ModelCall",
        "Observation",
        "Outcome",
        "Parser",
        "State",
        "Task",
        "Turn",
        "aggregate_metrics",
        "parse_action",
        "repetition_rate",
        "repetitions",
        "similarity",
    }
    assert set(alfworld.__all__) == {
        "AlfWorldAction",
        "AlfWorldDriver",
        "AlfWorldMetrics",
        "AlfWorldObservation",
        "AlfWorldState",
        "AlfWorldUtils",
    }
    assert set(webshop.__all__) == {
        "WebshopAction",
        "WebshopDriver",
        "WebshopMetrics",
        "WebshopObservation",
        "WebshopState",
        "WebshopUtils",
    }


@pytest.mark.parametrize("name", registry.names("benchmark"))
def test_every_registered_benchmark_is_covered_by_this_contract(name: str) -> None:
    assert name in BENCHMARKS


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmark_contract(name: str) -> None:
    benchmark = make_benchmark(name, **BUILTIN[name])
    tasks = benchmark.tasks()
    assert isinstance(benchmark, Benchmark)
    assert tasks == make_benchmark(name, **BUILTIN[name]).tasks(), "the order is fixed"
    assert len({task.id for task in tasks}) == len(tasks)
    assert {task.task_type for task in tasks} <= set(benchmark.task_types)
    assert isinstance(benchmark.explorer(), Explorer)
    provenance = benchmark.provenance()
    assert {"benchmark", "data", "split"} <= set(provenance)
    assert benchmark.fingerprint(tasks[:3]) != benchmark.fingerprint(tasks[:2])
    assert len(benchmark.instructions(benchmark.driver(tasks[0]).dialect)) > 100


@pytest.mark.parametrize("name", BENCHMARKS)
def test_driver_contract(name: str) -> None:
    benchmark = make_benchmark(name, **BUILTIN[name])
    driver = benchmark.driver(benchmark.tasks()[0])
    assert isinstance(driver, Driver)
    first = driver.reset()
    assert first.can_proceed
    assert not first.success
    assert first.text
    assert first.admissible
    assert len(driver.data_hash) == 64
    assert not driver.outcome.done
    before = driver.metrics.export()
    assert not driver.accepts("a sentence no benchmark understands")
    copy = pickle.loads(pickle.dumps(driver))
    copy.step(copy.action_class(value=first.admissible[0]))
    assert driver.metrics.export() == before, "a copy shares nothing that changes"
    assert driver.reset() == first, "reset goes back to the beginning"


@pytest.mark.parametrize("benchmark_name", BENCHMARKS)
@pytest.mark.parametrize("agent_name", ["oracle", "random", "scripted"])
def test_agent_contract(benchmark_name: str, agent_name: str) -> None:
    benchmark = make_benchmark(benchmark_name, **BUILTIN[benchmark_name])
    task = benchmark.tasks()[0]
    agent = make_agent(agent_name, benchmark)
    assert isinstance(agent, Agent)
    player = EpisodePlayer(benchmark.driver(task), agent, task, Rules(max_steps=40))
    origin = Origin("contract", "0" * 64, versions(), benchmark_name, agent_name)
    record = asyncio.run(player.play(origin))
    assert record.scored, record.error
    assert record.task_id == task.id
    assert record.agent == agent_name
    assert record.success or agent_name != "oracle"


def test_an_answer_needs_nothing_but_an_action() -> None:
    assert Answer(action="look").how == "verbatim"
