"""The README's commands on a system that lacks what Windows lacks; Windows itself is CI's."""

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest
import test_pages

from warm_python import Process, Run, run

PROGRAM = Path(__file__).resolve().parents[1] / "simulated_windows.py"
GAMES = ["data_path=builtin", "num_games=2", "agent=scripted"]


def on_windows(folder: Path, *words: str, typed: str = "") -> Run:
    return run([PROGRAM, *words], cwd=folder, input=typed, timeout=240)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With two runs."""
    made = tmp_path_factory.mktemp("windows")
    for name, more in (("first", []), ("other", ["executor=processes", "executor.workers=2"])):
        done = on_windows(made, "eval", *GAMES, f"run_name={name}", *more)
        assert done.returncode == 0, done.stderr
    return made


@pytest.mark.parametrize(
    "words",
    [
        ["demo", "mastermind", "--games", "1"],
        ["init", "run.yaml"],
        ["eval", *GAMES, "run_name=first"],
        ["report", "runs/first", "--format", "html"],
        ["compare", "runs/first", "runs/other"],
        ["runs"],
        ["view", "runs", "--export", "pages"],
        ["launch", "--num-games", "1", "--green-port", "0", "--white-port", "0",
         "--data-path", "builtin", "--white-agent-type", "scripted"],
        ["tasks", "alfworld", "--type", "heat", "data_path=builtin"],
        ["benchmarks"],
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_commands(folder: Path, words: list[str]) -> None:
    done = on_windows(folder, *words)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
@pytest.mark.timeout(600)
def test_all_that_the_readme_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulated: list[list[str]] = []

    def start(words: list[str]) -> list[str]:
        """`agentquest …` and `python main.py …`, both as `agentquest …` on Windows."""
        simulated.append(words[1:] if words[0] == "agentquest" else words[2:])
        return [str(PROGRAM), *simulated[-1]]

    monkeypatch.setattr(test_pages, "python", start)
    reader = test_pages.Reader(tmp_path, monkeypatch)
    reader.read("README.md", test_pages.PAGES["README.md"].read_text(encoding="utf-8"))
    assert reader.problems == []
    assert {words[0] for words in simulated} >= {"eval", "init", "sweep", "view", "launch", "serve"}


def test_playing_yourself(folder: Path) -> None:
    done = on_windows(folder, "play", "mastermind", typed="quit\n")
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr


def test_a_client_plays_over_pipes(folder: Path) -> None:
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    done = on_windows(folder, "mcp", "mastermind", "num_games=1", "run_name=mcp", typed=asked)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize(
    "words",
    [["view", "runs", "--port", "0"], ["serve", "webshop", "--data", "builtin", "--port", "0"]],
)
def test_servers_start_and_stop(folder: Path, words: list[str]) -> None:
    server = Process(
        [PROGRAM, *words, "--port", "0"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert server.stdout is not None
    addresses = (re.search(r"http://[\w.:]+", line) for line in iter(server.stdout.readline, ""))
    test_pages.wait_for_answer(next(filter(None, addresses))[0])  # from here on it hears signals
    server.send_signal(signal.SIGINT)
    _, errors = server.communicate(timeout=60)
    assert server.wait() == 130
    assert "Traceback" not in errors


def test_a_program_plays_and_ctrl_c_stops_it(folder: Path) -> None:
    command = "command=['sh', '-c', 'cat >/dev/null']"
    words = ["eval", *GAMES[:2], "agent.name=command", f"agent.{command}", "run_name=program"]
    playing = Process([PROGRAM, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    file = folder / "runs" / "program" / "live.jsonl"
    for _ in range(600):
        if file.exists() and file.stat().st_size:
            break
        try:
            playing.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    playing.send_signal(signal.SIGINT)
    _, errors = playing.communicate(timeout=120)
    assert playing.wait() == 130, errors
    assert "Traceback" not in errors
