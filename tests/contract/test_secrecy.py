"""An agent under test cannot get at its game: no driver, state, milestones or plan.

Looked for in everything the agent and its episode hold, through attributes,
containers, closures and classes, after every step of a played episode.
"""

import asyncio
import functools
import weakref
from typing import Any

import pytest

from agentquest.agents.baselines import OracleAgent, ScriptedAgent
from agentquest.benchmarks.mastermind import MasterMindDriver
from agentquest.errors import ConfigError
from agentquest.lib import (
    Agent,
    Answer,
    Benchmark,
    Driver,
    Episode,
    Explorer,
    InformedAgent,
    Observation,
    Oracle,
)
from agentquest.registry import BENCHMARKS
from agentquest.running.checks.players import find_leaks, find_leaks_while_playing
from agentquest.running.factory import Resources, agent_class, make_benchmark
from agentquest.running.play import make_player, play
from agentquest.running.spec import Choice, EpisodeSpec, RunContext

BUILTIN = {"alfworld": {"data_path": "builtin"}, "webshop": {"data_path": "builtin"}}
UNDER_TEST = ("react", "tools", "scripted", "random")


def spec_of(benchmark: str, agent: str, steps: int = 8) -> EpisodeSpec:
    settings: dict[str, Any] = BUILTIN.get(benchmark, {})
    context = RunContext(
        run_id="secrecy",
        config_hash="0" * 64,
        benchmark=Choice(benchmark, settings),
        agent=Choice(agent),
        max_steps=steps,
    )
    return EpisodeSpec(context, make_benchmark(benchmark, settings).tasks()[0], seed=7)


def found_in(benchmark: str, agent: str) -> list[str]:
    spec = spec_of(benchmark, agent)
    return asyncio.run(find_leaks_while_playing(spec, Resources(spec.context)))


@pytest.mark.parametrize("agent", UNDER_TEST)
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_an_agent_under_test_cannot_reach_the_game(benchmark: str, agent: str) -> None:
    assert found_in(benchmark, agent) == []


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_oracle_can_and_only_because_it_says_so(benchmark: str) -> None:
    """The same search finds the driver behind the oracle, so it can find one."""
    found = found_in(benchmark, "oracle")
    assert any("Driver" in problem for problem in found)
    assert "the agent is an InformedAgent" in found
    assert issubclass(OracleAgent, InformedAgent)


class Asking(ScriptedAgent):
    """Wants to be given the oracle without saying that it is informed."""

    oracle: Any = None


def test_the_oracle_is_given_to_informed_agents_only() -> None:
    spec = spec_of("mastermind", f"{__name__}:Asking")
    player = make_player(spec, Resources(spec.context))
    assert isinstance(player.agent, Asking)
    assert player.agent.oracle is None


class WantsDriver(ScriptedAgent):
    def __init__(self, driver: Driver) -> None:
        self.driver = driver


class WantsBenchmark(ScriptedAgent):
    def __init__(self, explorer: Explorer, benchmark: Benchmark) -> None:
        self.explorer = explorer
        self.benchmark = benchmark


class WantsOracle(ScriptedAgent):
    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle


@pytest.mark.parametrize("agent", [WantsDriver, WantsBenchmark, WantsOracle])
def test_a_constructor_cannot_ask_for_the_game(agent: type[Agent]) -> None:
    with pytest.raises(ConfigError, match="its constructor asks for"):
        agent_class(f"{__name__}:{agent.__name__}")


class Curious(Agent):
    """Keeps everything that it is handed."""

    kept: list[object]

    async def begin(self, episode: Episode) -> None:
        self.kept = [episode]

    async def act(self, observation: Observation) -> Answer:
        self.kept.append(observation)
        return Answer(action="look")


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_what_an_agent_is_handed_leads_nowhere(benchmark: str) -> None:
    assert found_in(benchmark, f"{__name__}:Curious") == []


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_no_solution_is_among_the_texts_an_agent_is_handed_first(benchmark: str) -> None:
    """Not all that the plan does, and the first observation does not offer, is told beforehand."""
    spec = spec_of(benchmark, "react", steps=1)
    player = make_player(spec, Resources(spec.context))
    record = asyncio.run(player.play())
    told = "\n".join(_texts(player.agent.episode))
    secret = [
        command
        for command in record.milestones
        if command not in record.first_admissible and command not in record.first_observation
    ]
    assert not secret or not all(command in told for command in secret)


def _texts(episode: Episode) -> list[str]:
    briefing = episode.briefing
    return [
        episode.goal,
        briefing.instructions,
        briefing.role,
        briefing.examples,
        *briefing.help_lines,
        *(text for shown in briefing.demonstrations for turn in shown.turns for text in turn),
    ]


class Holder:
    def __init__(self, thing: object) -> None:
        self.thing = thing


class Slotted:
    __slots__ = ("thing",)

    def __init__(self, thing: object) -> None:
        self.thing = thing


def _ways(thing: Any) -> dict[str, object]:
    def closure() -> Any:
        return thing

    def default(given: Any = thing) -> Any:
        return given

    class Kept:
        it = thing

    return {
        "attribute": Holder(thing),
        "slot": Slotted(thing),
        "list": [[thing]],
        "key": {("a", thing): 1},
        "value": {"a": {"b": thing}},
        "closure": closure,
        "default": default,
        "method": thing.reset,
        "partial": functools.partial(print, thing),
        "class": Kept(),
        "property": Holder(property(lambda self: thing)),
        "weak reference": weakref.ref(thing),
        "bound builtin": [thing].append,
    }


@pytest.mark.parametrize("way", _ways(MasterMindDriver("1234")))
def test_every_way_to_hide_a_driver_is_looked_into(way: str) -> None:
    driver = MasterMindDriver("1234")
    agent = Curious()
    agent.kept = [_ways(driver)[way]]
    assert any("MasterMindDriver" in problem for problem in find_leaks(agent, driver))


def test_a_part_of_the_game_and_the_plan_are_found() -> None:
    benchmark = make_benchmark("sudoku")
    driver = benchmark.driver(benchmark.tasks()[0])
    driver.reset()
    agent = Curious()
    agent.kept = [driver._board]  # type: ignore[attr-defined]
    assert any("part of the game" in problem for problem in find_leaks(agent, driver))
    agent.kept = [tuple(driver.metrics.milestones)]
    assert any("is the plan" in problem for problem in find_leaks(agent, driver))
    agent.kept = [driver.metrics.goal]
    assert find_leaks(agent, driver) == []


def test_records_say_that_an_agent_was_informed() -> None:
    record = asyncio.run(play(spec_of("mastermind", "oracle")))
    assert record.success
    assert record.agent == "oracle"
