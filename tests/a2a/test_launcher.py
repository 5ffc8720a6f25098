"""The launcher: a result every time, and nothing left behind however it ends."""

import asyncio
import json
import os
import signal
import subprocess
import sys

import pytest
from agent_processes import (
    DEADLINE_S,
    ROOT,
    Process,
    agentquest,
    clean_environment,
    eventually,
    port_is_held,
    processes_with,
)

from agentquest.http.sockets import free_port
from chat_server import ChatServer

pytestmark = pytest.mark.long


class Launched:
    """`python main.py launch` on two free ports, with its own log folder to be known by."""

    def __init__(self, logs, *options):
        self.logs = str(logs)
        self.ports = [free_port(), free_port()]
        self.command = [sys.executable, str(ROOT / "main.py"), "launch", "--log-dir", self.logs]
        self.command += ["--green-port", str(self.ports[0]), "--white-port", str(self.ports[1])]
        self.command += ["--data-path", "builtin", *options]

    def run(self, **environment):
        return subprocess.run(
            self.command,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S * 2,
            env={**clean_environment(), **environment},
        )

    def start(self):
        return Process(self.command)

    def nothing_is_left(self):
        assert eventually(lambda: not processes_with(self.logs)), processes_with(self.logs)
        assert eventually(lambda: not any(port_is_held(port) for port in self.ports))
        white = f"--port\0{self.ports[1]}\0"
        assert eventually(lambda: not processes_with(white))


def test_the_quick_start_needs_no_key(tmp_path):
    launched = Launched(tmp_path)
    done = launched.run()
    assert done.returncode == 0, done.stderr
    said = done.stdout
    order = (
        "OPENAI_API_KEY is not set",
        "Launching green",
        "Launching white",
        "✓ Green agent is ready",
        "✓ White agent is ready",
        "<env_config>",
        "[1/1]",
        "ASSESSMENT RESULTS",
        "overall score ",
        "Terminating agents…",
        "✓ Agents terminated successfully.",
    )
    places = [said.find(text) for text in order]
    assert places == sorted(places)
    assert -1 not in places
    assert len(list(tmp_path.glob("run_*/game_000.json"))) == 1
    launched.nothing_is_left()


def test_the_result_as_json(tmp_path):
    launched = Launched(tmp_path, "--json", "--num-games", "3", "--task-types", "1,5,1")
    done = launched.run(AGENT_URL="http://elsewhere.invalid/")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["num_games"] == 3
    assert set(result["per_type"]) == {"pick_and_place_simple", "pick_cool_then_place_in_recep"}
    launched.nothing_is_left()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted(tmp_path, number):
    (tmp_path / "run_elsewhere").symlink_to("nowhere")
    launched = Launched(tmp_path, "--white-agent-type", "known_agents:SlowAgent")
    process = launched.start()
    try:
        assert eventually(lambda: any(", run run_" in line for line in process.lines))
        assert all(port_is_held(port) for port in launched.ports)
        process.signal(number)
        code = process.wait()
    finally:
        process.stop()
    assert code == (-9 if number == signal.SIGKILL else 128 + number), process.lines
    launched.nothing_is_left()
    summary = json.loads(next(tmp_path.glob("run_*/run_summary.json")).read_text())
    assert number == signal.SIGKILL or summary["status"] == "cancelled"
    told = [line for line in process.lines if "with --resume plays the rest" in line]
    assert len(told) == (number != signal.SIGKILL)
    run = next(tmp_path.glob("run_*/run_summary.json")).parent
    assert all(str(run) in line for line in told)


def test_an_assessment_on_a_picked_port_goes_on_as_printed(tmp_path):
    launched = Launched(tmp_path, "--white-agent-type", "known_agents:SlowAgent")
    launched.command += ["--white-port", "0"]
    process = launched.start()
    try:
        assert eventually(lambda: any(", run run_" in line for line in process.lines))
        process.signal(signal.SIGINT)
        assert process.wait() == 130
    finally:
        process.stop()
    told = next(line for line in process.lines if "the same command with --resume" in line)
    launched.command += [*told.partition("with ")[2].partition(" plays")[0].split()]
    launched.command += ["--timeout", "5"]
    assert ", 0 already played" in launched.run().stdout
    assert len(list(tmp_path.glob("run_*"))) == 1


@pytest.mark.parametrize("agent", ["llm", "react"])
async def test_a_wrong_key_of_the_agent_is_found_before_anything_starts(tmp_path, agent):
    launched = Launched(tmp_path, "--white-agent-type", agent)
    async with ChatServer(lambda messages: "look", api_key="right") as server:
        variables = {"OPENAI_API_KEY": "wrong-key", "OPENAI_BASE_URL": server.url}
        done = await asyncio.to_thread(launched.run, **variables)
    assert done.returncode == 2
    assert "denies access with the key in $OPENAI_API_KEY" in done.stderr
    assert "asking gpt-4o-mini at" in done.stdout
    assert "Launching" not in done.stdout
    assert "wrong-key" not in done.stdout + done.stderr
    assert list(tmp_path.glob("run_*")) == []


def test_interrupted_while_starting(tmp_path):
    launched = Launched(tmp_path)
    process = launched.start()
    try:
        assert eventually(lambda: any("Launching white" in line for line in process.lines))
        process.signal(signal.SIGINT)
        assert process.wait() == 130
    finally:
        process.stop()
    launched.nothing_is_left()


def test_a_green_agent_that_dies(tmp_path):
    launched = Launched(tmp_path, "--white-agent-type", "known_agents:SlowAgent")
    process = launched.start()
    try:
        assert eventually(lambda: any(", run run_" in line for line in process.lines))
        (green,) = processes_with(
            f"agentquest\0green\0--host\0localhost\0--port\0{launched.ports[0]}"
        )
        os.kill(green, signal.SIGKILL)
        assert process.wait() == 2
    finally:
        process.stop()
    assert any("gave no result" in line for line in process.lines)
    launched.nothing_is_left()


def test_out_of_time(tmp_path):
    options = ("--white-agent-type", "known_agents:SlowAgent", "--timeout", "1")
    launched = Launched(tmp_path, *options)
    done = launched.run()
    assert done.returncode == 2
    assert "no result within 1 s" in done.stderr
    launched.nothing_is_left()


def test_an_agent_that_errs_is_told_by_the_exit_code(tmp_path, strange):
    launched = Launched(tmp_path, "--agent-url", f"{strange}error/")
    done = launched.run()
    assert done.returncode == 1
    assert "agent_error" in done.stdout
    launched.nothing_is_left()


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("repetitve", "'repetitve' is not an agent; did you mean 'repetitive'?"),
        ("known_agents:Planner", "needs the plan of its game"),
        ("command", "agent.command: is missing"),
        ("mcp", "the agent 'mcp' is whoever calls `agentquest mcp`"),
        ("human", "a launched agent has no keyboard"),
        ("agentquest.agents.human:HumanAgent", "a launched agent has no keyboard"),
    ],
)
def test_an_agent_that_cannot_play_is_refused_before_one_is_started(tmp_path, kind, why):
    launched = Launched(tmp_path, "--white-agent-type", kind)
    done = launched.run()
    assert done.returncode == 2
    assert why in done.stderr
    assert done.stdout == ""
    launched.nothing_is_left()


def test_trouble_of_the_green_agent_is_told_with_the_end_of_its_log(tmp_path):
    (tmp_path / "file").touch()
    launched = Launched(tmp_path / "file" / "logs", "--white-agent-type", "repetitive")
    done = launched.run()
    assert done.returncode == 2
    assert f"cannot make the log folder {launched.logs}/run_" in done.stderr
    launched.nothing_is_left()


def test_an_agent_that_already_runs_is_named(tmp_path):
    with agentquest("white", "--type", "repetitive", "--port", "0") as stale:
        launched = Launched(tmp_path)
        launched.command += ["--white-port", str(stale.port)]
        done = launched.run()
        assert done.returncode == 2
        assert f"port {stale.port}" in done.stderr
        assert "AgentQuest white agent (repetitive)" in done.stderr
        assert "--white-port" in done.stderr
        assert "Agents terminated" not in done.stdout, "none was started"
        assert port_is_held(stale.port)
    launched.nothing_is_left()


def test_a_port_in_use_is_said_with_a_free_one(tmp_path):
    with agentquest("white", "--type", "repetitive", "--port", "0") as other:
        done = subprocess.run(
            [sys.executable, "-m", "agentquest", "green", "--port", str(other.port)],
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            env=clean_environment(),
        )
    assert done.returncode == 2
    assert f"port {other.port}" in done.stderr
    assert "try --port" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_served_agent_stops_when_told(number):
    with agentquest("white", "--type", "scripted", "--port", "0") as process:
        os.kill(process.pid, number)
        assert process.wait() in (128 + number, -number), "or it had not begun to serve"
        assert not port_is_held(process.port)
        assert not any("Traceback" in line for line in process.lines)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--num-games", "0"], "num_games: must be at least 1 (given: 0)"),
        (["--coverage-mode", "adversarial"], "coverage-mode"),
        (["--env-type", "AlfredThorEnv"], "simulator"),
        (["--task-types", ""], "task_types: must name at least 1"),
    ],
)
def test_wrong_options(tmp_path, options, problem):
    done = Launched(tmp_path, *options).run()
    assert done.returncode == 2
    assert problem in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["launch", "green", "white"])
def test_without_the_sdk_it_says_what_to_install(command):
    program = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'a2a':\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from agentquest.cli import main\n"
        f"main(['{command}'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        env=clean_environment(),
    )
    assert done.returncode == 2
    assert "[a2a]" in done.stderr.partition("pip install ")[2]
    assert "Traceback" not in done.stderr
