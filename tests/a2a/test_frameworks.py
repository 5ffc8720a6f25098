"""Agents of real frameworks play as they are: each in its own environment, asked by our client.

Those that install quickly are tried with every test run, the others by `make conformance`.
"""

import pytest
from agent_processes import script
from environments import environment


@pytest.mark.timeout(900)  # an environment is made where there is none
@pytest.mark.parametrize(
    ("name", "manner"),
    [
        ("pydantic-ai-1", "pydantic-ai"),
        ("pydantic-ai-2", "pydantic-ai"),
        ("strands", "strands"),
        ("strands", "strands-streaming"),
        ("agent-framework", "agent-framework"),
        ("agent-framework", "agent-framework-streaming"),
        ("google-adk", "google-adk"),
        ("crewai", "crewai"),
    ],
)
def test_its_agents_are_understood(green, name, manner):
    with script("framework_agents.py", manner, python=environment(name)) as process:
        result = green.assess(process.url, max_steps=3, turn_timeout=30)
    game = result.data["games"][0]
    assert game["error"] is None
    assert (game["end_reason"], game["steps"], game["invalid_actions"]) == ("max_steps", 3, 0)
    if name == "google-adk":  # says what its model used
        told = [result.data[key] for key in ("model_calls", "prompt_tokens", "completion_tokens")]
        assert told == [3, 60, 24]
