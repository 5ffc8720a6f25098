"""Benchmarks that A2A knows nothing of are assessed like any other."""

import pytest
from agent_processes import agentquest


@pytest.mark.long
@pytest.mark.parametrize("kind", ["scripted", "oracle"])
@pytest.mark.parametrize(
    ("benchmark", "types"),
    [
        ("mastermind", {"4 digits", "5 digits", "6 digits", "7 digits", "8 digits"}),
        ("sudoku", {"easy", "medium", "hard"}),
    ],
)
def test_games_are_won_over_a2a(green, benchmark, types, kind):
    with agentquest("white", "--type", kind, "--benchmark", benchmark, "--port", "0") as agent:
        data = green.assess(agent.url, benchmark=benchmark, num_games=len(types)).data
    assert (data["num_games"], data["errors"], data["invalid_rate"]) == (len(types), 0, 0)
    assert data["success_rate"] == 1
    assert data["data"] == "generated"
    assert set(data["per_type"]) == types


@pytest.mark.parametrize("benchmark", ["mastermind", "sudoku"])
def test_a_random_agent_fills_the_blanks(green, benchmark):
    with agentquest("white", "--type", "random", "--benchmark", benchmark, "--port", "0") as agent:
        data = green.assess(agent.url, benchmark=benchmark, num_games=1, max_steps=12).data
    (game,) = data["games"]
    assert (game["end_reason"], game["steps"]) == ("max_steps", 12)
    assert game["invalid_actions"] < 12
