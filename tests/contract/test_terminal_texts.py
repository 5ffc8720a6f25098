"""Whatever is printed for people passes the same cleaning, on standard error too."""

import io
import random
import re
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType

import pytest
from rich.console import Console

from agentquest import dropin
from agentquest.adapters.alfworld_dropin import AlfredDemangler
from agentquest.adapters.textworld_gym import TextworldBatchGymEnv
from agentquest.benchmarks.alfworld.homes import game_ids
from agentquest.cli.app import main
from agentquest.downloads import download_bars
from agentquest.lib import Action, Benchmark, Driver, Observation, Outcome, State, Task
from agentquest.people.terminal import Screen, TerminalGames
from report_runs import HARM, hostile, hostile_manifest, record, saved

SOURCE = Path(__file__).parents[2] / "src" / "agentquest"
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_one_function_prints() -> None:
    printing = re.compile(r"typer\.s?echo\b|\bprint\(|sys\.std(?:out|err)\.write\(")
    # Programs read these: JSON in ASCII, and the protocol's own lines.
    for_programs = {"cli/terminal.py", "adapters/mcp_server.py", "safe_text.py"}
    found = [
        f"{file.relative_to(SOURCE)}: {line.strip()}"
        for file in sorted(SOURCE.rglob("*.py"))
        if file.relative_to(SOURCE).as_posix() not in for_programs
        for line in file.read_text(encoding="utf-8").splitlines()
        if printing.search(line)
        and "console.print(" not in line
        and not line.startswith("    print(")
    ]
    assert found == []


@pytest.mark.parametrize("name", ["hostile", "broken"])
def test_no_run_acts_on_the_terminal(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / name
    saved(run, hostile(), hostile_manifest())
    saved(tmp_path / "plain", [record("a")])
    if name == "broken":
        text = (run / "manifest.json").read_text(encoding="utf-8")
        (run / "manifest.json").write_text(text.replace('"trials": 1', f'"{HARM[-30:-20]}": 1'))
    for words in (
        ["compare", str(run), str(tmp_path / "plain")],
        ["report", str(run)],
        ["runs", str(tmp_path)],
        ["runs", str(tmp_path), "--json"],
        ["report", str(run), "-f", "csv"],
        ["rerun", str(run), "\x1b]0;owned\x07=1"],
        ["eval", "benchmark=\x1b[31m\u202e"],
    ):
        with pytest.raises(SystemExit):
            main(words)
        said = capsys.readouterr()
        assert said.out + said.err, words
        assert ACTS.findall(said.out + said.err) == [], words


class HarmDriver(Driver):
    outcome = Outcome(False, False, 0.0, 0.0, explanation=HARM)

    def _reset(self) -> tuple[str, Observation]:
        return HARM, self.observe(HARM, [HARM])

    def _step(self, action: Action) -> tuple[State, Observation]:
        return State(0), self.observe(HARM, [HARM], valid=action.value == HARM)


class HarmBenchmark(Benchmark):
    """A data file whose every text acts on terminals."""

    name = "harm"
    title = HARM
    splits = MappingProxyType({"all": 3})
    task_types = (HARM, "other")

    def tasks(self) -> list[Task]:
        return [Task(f"{number} {HARM}", HARM, HARM, HARM) for number in range(3)]

    def driver(self, task: Task) -> Driver:
        return HarmDriver()


@pytest.mark.parametrize("is_terminal", [True, False])
def test_no_game_acts_on_its_players_terminal(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = [HARM, "1", "actions", "look\x1b[31m", "1", "plan", "?", "restart", "quit"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(typed)))
    games = TerminalGames(HarmBenchmark(), random.Random(0), ["agentquest", HARM], None)
    # Without colours, so that every escape sequence is the game's.
    games.screen = Screen(HARM, Console(force_terminal=is_terminal, color_system=None))
    games.play(None)
    said = capsys.readouterr()
    assert said.out.count("\\x1b[31m") > 5
    assert ACTS.findall(said.out + said.err) == []


def test_nothing_acts_on_the_terminal_of_a_drop_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert dropin.main([HARM]) == 2
    game = f"builtin:{game_ids('valid_seen')[0]}/game.tw-pddl"
    env = TextworldBatchGymEnv([game], wrappers=[AlfredDemangler()])
    env.reset()
    env.step([HARM])
    env.render()
    said = capsys.readouterr()
    for text in said:
        assert "\\x1b[31m" in text
        assert ACTS.findall(text) == []
    assert HARM in env.render("text")  # what a script reads is what was said


def test_bars_do_not_act_on_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with download_bars() as add_bar:
        add_bar("\x1b[31m\u202e.zip")(1, 1)
    said = capsys.readouterr().err
    assert said.count("\\u202e") == 1
    assert ACTS.findall(said) == []


PROGRAM = f"""
import logging
import threading
import warnings

from agentquest.lib import Agent, Answer, Driver
from agentquest.benchmarks.mastermind.benchmark import MasterMindBenchmark

SAID = {HARM!r}


def crash():
    raise ValueError(SAID)


class Leaving:
    def __del__(self):
        raise LookupError(SAID)


def say():
    Leaving()
    logging.getLogger("mine").warning(SAID)
    warnings.warn(SAID)
    thread = threading.Thread(target=crash)
    thread.start()
    thread.join()


class Saying(Agent):
    async def act(self, observation):
        say()
        return Answer(SAID, reply=SAID)


class Crashing(MasterMindBenchmark):
    def tasks(self):
        say()
        raise ValueError(SAID)
"""


@pytest.mark.parametrize(
    "settings",
    ["benchmark=loud:Crashing", "agent=loud:Saying", "agent=loud:Saying executor=processes"],
)
def test_what_python_says_does_not_act_on_the_terminal(settings: str, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(PROGRAM, encoding="utf-8")
    given = "benchmark=mastermind num_games=1 max_steps=2 run_name=run debug=true"
    command = [sys.executable, "-m", "agentquest", "eval", *given.split(), *settings.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    said = (done.stdout + done.stderr).decode()
    for word in ("UserWarning: ", "ValueError: ", "LookupError: "):
        assert re.search(f"^.*{word}.*\\\\x1b\\[31m", said, re.MULTILINE), said
    assert ACTS.findall(said) == []
    for log in tmp_path.rglob("run.log"):
        assert ACTS.findall(log.read_text(encoding="utf-8")) == []


def test_what_python_says_in_an_actor_of_environments_does_not_act_on_the_terminal() -> None:
    begin = "SlotActor('mastermind', {}, 1, [])"
    program = "import warnings; from agentquest.adapters.ray_vector import SlotActor; "
    program += f"{begin}; warnings.warn({HARM!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert "UserWarning: " in done.stderr.decode()
    assert ACTS.findall(done.stderr.decode()) == []
