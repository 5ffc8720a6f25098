"""The names users import: these and no others."""

import importlib

import pytest

import agentquest
import agentquest.lib

SURFACE = {
    "agentquest": {"RunResult", "__version__", "evaluate", "load_run", "play"},
    "agentquest.lib": {
        "Action",
        "Agent",
        "Answer",
        "Arena",
        "Benchmark",
        "BenchmarkSettings",
        "Briefing",
        "Demonstration",
        "Driver",
        "Episode",
        "Explorer",
        "Game",
        "InformedAgent",
        "Interaction",
        "LoopAgent",
        "Metrics",
        "Moment",
        "Observation",
        "Oracle",
        "Outcome",
        "Parser",
        "Session",
        "SessionVector",
        "Settings",
        "State",
        "Task",
        "TerminalView",
        "Turn",
        "Verbs",
        "operational",
        "parse_action",
        "repetition_rate",
        "repetitions",
        "similarity",
    },
}
# The documented driver API has the same six names in every benchmark's folder.
PREFIXES = {
    "alfworld": "AlfWorld",
    "mastermind": "MasterMind",
    "sudoku": "Sudoku",
    "webshop": "Webshop",
}
ENDINGS = ("Action", "Driver", "Metrics", "Observation", "State", "Utils")


@pytest.mark.parametrize("module", SURFACE)
def test_exported_names(module: str) -> None:
    found = importlib.import_module(module)
    assert set(found.__all__) == SURFACE[module]
    assert all(hasattr(found, name) for name in found.__all__)


@pytest.mark.parametrize("benchmark", PREFIXES)
def test_exported_names_of_a_benchmark(benchmark: str) -> None:
    found = importlib.import_module(f"agentquest.benchmarks.{benchmark}")
    assert set(found.__all__) == {f"{PREFIXES[benchmark]}{ending}" for ending in ENDINGS}
    assert all(hasattr(found, name) for name in found.__all__)


def test_every_registered_benchmark_has_the_documented_api() -> None:
    from agentquest import registry

    assert set(PREFIXES) == set(registry.BENCHMARKS)


def test_an_answer_needs_nothing_but_an_action() -> None:
    assert agentquest.lib.Answer(action="look").how == "verbatim"
