"""Agents from frameworks play what the rules play: their examples, with the real packages.

Each runs as its users run it, against a model server on this machine, in an environment of its own.
"""

from pathlib import Path

import pytest
from adapter_scripts import run
from foreign import ROOT, foreign_python

import agentquest
from agentquest.store.folder import RunFolder
from chat_server import server_process

EXAMPLES = ROOT / "examples"
# The example's file, its class, and the environment it needs.
AGENTS = {
    "langgraph_agent.py": ("LangGraphAgent", "langgraph"),
    "openai_agents_agent.py": ("AgentsSdkAgent", "openai_agents"),
    "pydantic_ai_agent.py": ("PydanticAgent", "pydantic_ai"),
    "smolagents_agent.py": ("SmolAgent", "smolagents"),
}
GAMES = ["data_path=builtin", "num_games=2", "max_steps=30"]


@pytest.fixture(scope="module")
def by_rules() -> dict[str, list[str | None]]:
    """What the rule-based player does in the same games."""
    from agentquest.config import load_config
    from agentquest.running.run import Run

    chosen = Run(load_config(None, ["agent=scripted", *GAMES])[0])
    games = [
        agentquest.play("alfworld", spec.task.id, "scripted", data_path="builtin", max_steps=30)
        for spec in chosen.specs
    ]
    assert any(game.success for game in games)
    return {game.task_id: [step.action for step in game.steps] for game in games}


@pytest.mark.parametrize("example", AGENTS)
def test_it_plays_what_the_rules_play(
    example: str, by_rules: dict[str, list[str | None]], tmp_path: Path
) -> None:
    name, environment = AGENTS[example]
    python = foreign_python(environment)
    with server_process("--answer", "llm_servers.tool_player:answer") as url:
        run(
            [
                *(python, "-m", "agentquest", "eval"),
                f"agent.name={example.removesuffix('.py')}:{name}",
                *("agent.model=rules", f"agent.base_url={url}", f"output_dir={tmp_path}"),
                *("run_name=r", *GAMES),
            ],
            PYTHONPATH=str(EXAMPLES),
            NO_PROXY="127.0.0.1",
        )
    records = RunFolder(tmp_path / "r").records()
    played = {record.task_id: [step.action for step in record.steps] for record in records}
    assert played == by_rules
    assert all(record.scored for record in records)
    for record in records:
        used = [call.usage for call in record.calls]
        assert len(used) >= len(record.steps), "every model call of the framework is counted"
        assert all(usage is not None and usage.prompt_tokens > 0 for usage in used)
        assert {call.model for call in record.calls} == {"rules"}
