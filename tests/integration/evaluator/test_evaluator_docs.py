"""The evaluator's pages leave out no field or setting; test_pages runs their blocks."""

import re
from pathlib import Path
from typing import Any

import pytest
from evaluator_runs import results

from agentquest.agents.prompted import FIELDS
from agentquest.config import RunConfig, load_config
from agentquest.config.loading import FLAT_NAMES
from agentquest.config.settings import settings_model
from agentquest.protocols import all_protocols
from agentquest.records.episode import Call, EpisodeRecord, Failure, LiveEvent, Step
from agentquest.records.manifest import Manifest, Provenance
from agentquest.records.messages import Message, ToolCall, Usage
from agentquest.records.outcome import AgentFaults, End
from warm_python import agentquest

AGENT = settings_model("agent", "react")
MODEL = settings_model("model", "openai")
DOCS = Path(__file__).resolve().parents[3] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def named(text: str) -> set[str]:
    """Everything that stands between backticks, in all its dotted parts."""
    quoted = re.findall(r"`([^`\n]+)`", text)
    return {part for word in quoted for part in (word, *word.split("."))}


def test_the_configurations_shown_are_valid(tmp_path: Path) -> None:
    shown = re.findall(r"^```yaml ([\w.]+)\n(.*?)^```$", page("evaluator.md"), re.M | re.DOTALL)
    assert shown
    for name, content in shown:
        (tmp_path / name).write_text(content, encoding="utf-8")
        config, warnings = load_config(tmp_path / name)
        assert config.llm is not None
        assert warnings == []


def test_every_setting_is_on_the_page() -> None:
    words = named(page("evaluator.md"))
    settings: list[str] = [
        *RunConfig.model_fields,
        *(f"agent.{name}" for name in AGENT.model_fields),
        *(f"llm.{name}" for name in MODEL.model_fields),
    ]
    assert [name for name in settings if name not in words] == []
    assert [name for name in all_protocols() if name not in named(page("protocols.md"))] == []
    assert [end.value for end in End if end.value not in words] == []
    assert [f"agent_faults: {each.value}" not in words for each in AgentFaults] == [False, False]


def test_the_table_of_names_that_stand_by_themselves_is_right() -> None:
    table = page("evaluator.md").partition("### Top-level names")[2]
    rows = re.findall(r"^\| .*? \| (`.*?) \| (.*?) \| (.*) \|$", table, re.MULTILINE)
    listed = set()
    for flat, section, default in rows:
        path = re.findall(r"`([\w.]+)`", section)
        for name in re.findall(r"`(\w+)`", flat):
            listed.add(name)
            target = FLAT_NAMES.get(name, name)
            if path and path[0].startswith("benchmark_settings."):
                target = f"benchmark_settings.{name}"
            assert target == (path[0] if path else name)
            check_default(target, default)
    assert len(rows) == 18
    assert listed >= {"model", "api_base_url", "api_key", "num_games", "parallel", "debug"}


def check_default(target: str, said: str) -> None:
    section, _, name = target.rpartition(".")
    shop = settings_model("benchmark", "webshop")
    models: dict[str, Any] = {
        "": RunConfig,
        "agent": AGENT,
        "llm": MODEL,
        "benchmark_settings": shop,
    }
    field = models[section].model_fields[name]
    if field.is_required() or field.default is None:
        return
    value = str(field.default).lower() if isinstance(field.default, bool) else field.default
    shown = re.split(r"[;, ]", said.replace("`", ""))[0]
    assert shown == str(value).removesuffix(".0")


@pytest.mark.parametrize("agent", ["tools", "prompted", "command"])
def test_every_setting_of_other_agents_is_on_their_page(agent: str) -> None:
    words = named(page("agents.md"))
    fields = settings_model("agent", agent).model_fields
    assert [f"agent.{name}" for name in fields if f"agent.{name}" not in words] == []


def test_what_a_prompt_file_may_name_is_on_the_page() -> None:
    words = named(page("agents.md"))
    for section, names in FIELDS.items():
        assert f"[{section}]" in words
        assert [f"${name}" for name in names if f"${name}" not in words] == []


@pytest.mark.parametrize(
    "model",
    [
        *(EpisodeRecord, Step, Call, Usage, Message, ToolCall, Failure),
        *(Manifest, Provenance, LiveEvent),
    ],
)
def test_every_field_of_the_records_is_on_the_page(model: Any) -> None:
    words = named(page("records.md"))
    assert [name for name in model.model_fields if name not in words] == []


def test_every_key_that_is_written_is_on_the_page(tmp_path: Path) -> None:
    words = named(page("records.md"))
    arguments = ("data_path=builtin", "num_games=2", "run_name=tiny")
    assert agentquest("eval", *arguments, cwd=tmp_path).returncode == 0
    run = tmp_path / "runs" / "tiny"
    content = results(run)
    keys = {*content, *content["config"], *content["summary"], *content["results"][0]}
    assert sorted(key for key in keys if key not in words) == []
    assert sorted(path.name for path in run.iterdir() if path.name not in words) == []
