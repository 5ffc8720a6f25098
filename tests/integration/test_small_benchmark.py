"""The example, custom_benchmark.py: a small file that everything in AgentQuest can play."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import warm_python
from agentquest.api import load_run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAME = "custom_benchmark:GuessBenchmark"


def _agentquest(*words: str, **given: Any) -> subprocess.CompletedProcess[str]:
    done = warm_python.agentquest(*words, **{"cwd": EXAMPLES, **given})
    assert done.returncode == 0, done.stderr
    return done


def test_it_is_small() -> None:
    source = (EXAMPLES / "custom_benchmark.py").read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 60
    (names,) = re.findall(r"^from agentquest\S* import (.*)$", source, re.MULTILINE)
    assert len(names.split(", ")) <= 5


def test_it_keeps_its_promises() -> None:
    assert "0 with problems" in _agentquest("check-benchmark", NAME).stdout


@pytest.mark.parametrize("agent", ["random", "scripted", "react", "tools"])
def test_every_kind_of_agent_plays_it(agent: str, tmp_path: Path) -> None:
    _agentquest(
        *("eval", f"benchmark={NAME}", f"agent={agent}", "num_games=4", "run_name=small"),
        f"output_dir={tmp_path}",
    )
    run = load_run(tmp_path / "small")
    assert len(run.records) == 4
    steps = [step for record in run.records for step in record.steps]
    assert all(step.valid for step in steps), "the default player gives possible commands"
    assert len({step.action for step in steps}) > 10


def test_it_is_assessed_over_a2a(tmp_path: Path) -> None:
    pytest.importorskip("a2a")
    # A request may name only what is installed: the file, and an entry point.
    info = tmp_path / "site" / "guessing-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: guessing\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[agentquest.benchmarks]\nguess = {NAME}\n")
    places = [str(info.parent), str(EXAMPLES)]
    _agentquest(
        *("launch", "--benchmark", "guess", "--num-games", "2", "--max-steps", "4", "--json"),
        *("--white-agent-type", "random", "--green-port", "0", "--white-port", "0"),
        *("--log-dir", str(tmp_path)),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
    )
    (folder,) = tmp_path.glob("run_*")
    records = load_run(folder).records
    assert [len(record.steps) for record in records] == [4, 4]
    assert all(step.valid for record in records for step in record.steps)


def test_it_is_played_over_mcp(tmp_path: Path) -> None:
    client = {"name": "tester", "version": "1"}
    asked = [
        ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        ("tools/call", {"name": "start", "arguments": {}}),
        ("tools/call", {"name": "act", "arguments": {"command": "guess 101"}}),
        ("tools/call", {"name": "give_up", "arguments": {}}),
    ]  # fmt: skip
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(asked)
    ]
    initialized = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
    lines.insert(1, initialized)
    done = _agentquest(
        *("mcp", NAME, "--output-dir", str(tmp_path), "--run-name", "called"),
        input="\n".join(lines) + "\n",
    )
    assert "Too high." in done.stdout
    (record,) = load_run(tmp_path / "called").records
    assert [step.action for step in record.steps] == ["guess 101", None]


def test_the_viewer_shows_it(tmp_path: Path) -> None:
    _agentquest(
        *("eval", f"benchmark={NAME}", "agent=random", "num_games=1", "run_name=seen"),
        f"output_dir={tmp_path}",
    )
    _agentquest("view", str(tmp_path), "--export", str(tmp_path / "pages"))
    pages = "".join(
        file.read_text(encoding="utf-8") for file in (tmp_path / "pages").rglob("*.html")
    )
    assert "Guess the number" in pages
    assert "Please guess the number between 1 and 100." in pages
