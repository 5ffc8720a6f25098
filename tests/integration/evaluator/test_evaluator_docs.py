"""The evaluator's pages: their commands run, their files load, and no field is left out."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from evaluator_runs import PATIENCE_S, environment, results

from agentquest.agents.prompted import FIELDS
from agentquest.config import RunConfig, load_config
from agentquest.config.loading import FLAT_NAMES
from agentquest.config.settings import settings_model
from agentquest.protocols import all_protocols
from agentquest.records.episode import Call, EpisodeRecord, Failure, LiveEvent, Step
from agentquest.records.manifest import Manifest, Provenance
from agentquest.records.messages import Message, ToolCall, Usage
from agentquest.records.outcome import AgentFaults, End
from agentquest.store.folder import RunFolder

AGENT = settings_model("agent", "react")
MODEL = settings_model("model", "openai")
DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = ("evaluator.md", "records.md", "agents.md", "protocols.md")
BLOCK = re.compile(r"^```(\w+) ?([\w.]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def named(text: str) -> set[str]:
    """Everything that stands between backticks, in all its dotted parts."""
    quoted = re.findall(r"`([^`\n]+)`", text)
    return {part for word in quoted for part in (word, *word.split("."))}


@pytest.fixture(scope="module")
def worked_through(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each page's files written and its commands run, in order, in a folder of its own."""
    folders = {}
    for name in PAGES:
        folder = folders[name] = tmp_path_factory.mktemp(name.partition(".")[0])
        for language, file, content in BLOCK.findall(page(name)):
            if file:
                (folder / file).write_text(content, encoding="utf-8")
            elif language == "bash":
                run_all(content, folder)
    return folders


def run_all(commands: str, folder: Path) -> None:
    here = str(Path(sys.executable).parent)
    done = subprocess.run(
        ["bash", "-euc", commands],
        cwd=folder,
        env=environment(PATH=f"{here}{os.pathsep}{os.environ['PATH']}"),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"


@pytest.mark.long
def test_the_commands_do_what_the_pages_say(worked_through: dict[str, Path]) -> None:
    runs = worked_through["evaluator.md"] / "runs"
    assert (runs / "offline" / "report" / "index.html").is_file()
    assert results(runs / "offline")["summary"]["total_games"] == 6
    configs = [RunFolder(run).manifest().config["agent"] for run in sorted(runs.iterdir())]
    assert {config["name"] for config in configs} == {"react", "scripted", "my_agent:Nosy"}
    prompts = {config["prompt_file"] for config in configs if config["name"] == "react"}
    assert prompts == {None, "my_prompt.txt"}
    assert results(worked_through["records.md"] / "runs" / "tiny")["summary"]["total_games"] == 2


@pytest.mark.long
def test_the_template_shown_is_solved_by_the_scripted_model(
    worked_through: dict[str, Path],
) -> None:
    for run in (worked_through["evaluator.md"] / "runs").iterdir():
        if RunFolder(run).manifest().config["agent"].get("prompt_file"):
            records = RunFolder(run).records()
            assert [record.end for record in records] == [End.SOLVED, End.SOLVED]
            system, _ = records[0].prompt(records[0].steps[0])
            assert system.content.startswith("You live in a text game.")


@pytest.mark.long
def test_the_configurations_shown_are_valid(worked_through: dict[str, Path]) -> None:
    shown = [file for kind, file, _ in BLOCK.findall(page("evaluator.md")) if kind == "yaml"]
    assert shown
    for file in shown:
        config, warnings = load_config(worked_through["evaluator.md"] / file)
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


@pytest.mark.long
def test_the_other_agents_and_a_protocol_file_play_as_shown(
    worked_through: dict[str, Path],
) -> None:
    agents = {
        RunFolder(run).manifest().agent for run in (worked_through["agents.md"] / "runs").iterdir()
    }
    assert agents == {"prompted", "command"}
    (run,) = (worked_through["protocols.md"] / "runs").iterdir()
    assert RunFolder(run).manifest().protocol == "my-setting"
    for page_name in ("agents.md", "protocols.md"):
        for run in (worked_through[page_name] / "runs").iterdir():
            assert all(record.scored for record in RunFolder(run).records())


@pytest.mark.long
def test_the_agent_in_another_language_plays(worked_through: dict[str, Path]) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    folder = worked_through["agents.md"]
    (command,) = [content for kind, _, content in BLOCK.findall(page("agents.md")) if kind == "sh"]
    run_all(command.rstrip() + " run_name=node", folder)
    records = RunFolder(folder / "runs" / "node").records()
    assert str(records[0].steps[0].action).startswith("go to ")


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


@pytest.mark.long
def test_every_key_that_is_written_is_on_the_page(worked_through: dict[str, Path]) -> None:
    words = named(page("records.md"))
    run = worked_through["records.md"] / "runs" / "tiny"
    content = results(run)
    keys = {
        *content,
        *content["config"],
        *content["summary"],
        *content["results"][0],
    }
    assert sorted(key for key in keys if key not in words) == []
    files = {path.name for path in run.iterdir()}
    assert sorted(name for name in files if name not in words) == []
