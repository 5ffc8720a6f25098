"""An agent that crashes: its author is told what happened and where, once, and finds it later."""

import html
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentquest import load_run
from agentquest.cli.app import main
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from agentquest.running.crashes import describe_crash
from agentquest.viewer.addresses import SITE
from agentquest.viewer.episode_page import episode_page
from agentquest.viewer.layout import render
from agentquest.viewer.replay import analyse_episode

AGENT = """\
import json

from agentquest.lib import Agent, Answer


def choose(reply):
    if "number" in reply:
        return json.loads(reply["number"])
    return reply["choices"][0]


class Crashing(Agent):
    async def act(self, observation):
        return Answer(choose({}))
"""


@pytest.mark.parametrize("faults", ["owe", "lose"])
def test_a_crash_is_explained_once_on_the_terminal_and_kept(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    faults: str,
) -> None:
    module = f"crashing_{faults}"
    (tmp_path / f"{module}.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    settings = f"agent={module}:Crashing agent_faults={faults} num_games=4 run_name=crash"
    with pytest.raises(SystemExit) as left:
        main(["eval", "benchmark=mastermind", "output_dir=runs", *settings.split()])
    assert left.value.code == (1 if faults == "owe" else 0)
    told = f"KeyError: 'choices' at {module}.py:9"
    said = capsys.readouterr().err
    assert f"the agent crashed: {told}" in said
    assert said.count('    return reply["choices"][0]') == 1, "once, not for every episode"
    run = load_run(tmp_path / "runs" / "crash")
    for record in run.records:
        assert record.error is not None
        assert record.error.message == told
        assert record.error.traceback.splitlines() == [
            "Traceback (most recent call last):",
            f'  File "{module}.py", line 14, in act',
            "    return Answer(choose({}))",
            f'  File "{module}.py", line 9, in choose',
            '    return reply["choices"][0]',
            "KeyError: 'choices'",
        ]
    assert told in (run.path / "run.log").read_text()
    record = run.records[0]
    page = render(episode_page(SITE, "crash", record, analyse_episode(record, run.manifest)))
    assert f'{module}.py", line 9, in choose' in html.unescape(page)


def _fail(levels: int) -> None:
    if levels:
        _fail(levels - 1)
    raise ValueError("sk-0123456789abcdef is wrong")


def test_a_traceback_is_short_and_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-0123456789abcdef")
    with pytest.raises(ValueError, match="wrong") as caught:
        _fail(500)
    _, message, traceback = describe_crash(caught.value)
    assert message.startswith("ValueError: *** is wrong at test_eval_crash.py:")
    assert len(traceback) < 4000
    assert "sk-0123456789abcdef" not in traceback
    assert str(Path(__file__).parent) not in traceback


ODD = """\
import asyncio
import sys
import threading

from agentquest.lib import Agent, Answer, LoopAgent

GO_ON = threading.Event()


class Wordless(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class Leaving(Exception):
    def __str__(self):
        sys.exit(7)


class Nameless(type):
    @property
    def __name__(self):
        raise RuntimeError("no name")


def chain(length):
    error = ValueError("first")
    for _ in range(length):
        later = ValueError("later")
        later.__cause__ = error
        error = later
    return error


MADE = {
    "wordless": Wordless,
    "leaving": Leaving,
    "nameless": lambda: Nameless("Error", (Exception,), {})(),
    "chain": lambda: chain(3000),
    "huge": lambda: ValueError("x" * 10_000_000),
    "exit": lambda: SystemExit(3),
    "interrupt": KeyboardInterrupt,
    "base": lambda: BaseException("base"),
    "closed": GeneratorExit,
    "cancelled": asyncio.CancelledError,
}


class Odd(Agent):
    async def act(self, observation):
        raise MADE[KIND]()


class OddAtTheEnd(Agent):
    async def act(self, observation):
        return Answer(None, give_up=True)

    async def close(self):
        raise MADE[KIND]()


class OddLoop(LoopAgent):
    async def play(self, episode, first, act):
        raise MADE[KIND]()


class OddBeside(Agent):
    async def act(self, observation):
        await asyncio.gather(self.raise_it())

    async def raise_it(self):
        raise MADE[KIND]()


class Blocking(Agent):
    async def act(self, observation):
        await asyncio.to_thread(GO_ON.wait)


class Lingering(Agent):
    async def act(self, observation):
        self.beside = asyncio.ensure_future(self.go_on())
        return Answer(None, give_up=True)

    async def go_on(self):
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue


class Deaf(LoopAgent):
    async def play(self, episode, first, act):
        while True:
            try:
                await act("look")
            except Exception:
                continue
"""
KINDS = ["wordless", "leaving", "nameless", "chain", "huge", "exit", "interrupt", "base", "closed"]
if sys.version_info >= (3, 11):  # 3.10 takes every cancellation for the run's
    KINDS.append("cancelled")


@pytest.fixture
def play_odd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str, str], list[EpisodeRecord]]:
    monkeypatch.chdir(tmp_path)

    def play(agent: str, kind: str, more: str = "") -> list[EpisodeRecord]:
        module = f"odd_{agent}_{kind}_{len(more)}"
        (tmp_path / f"{module}.py").write_text(f"KIND = {kind!r}\n{ODD}")
        settings = f"agent={module}:{agent} agent_faults=lose num_games=2 max_steps=2 {more}"
        with pytest.raises(SystemExit) as left:
            main(["eval", "benchmark=mastermind", "output_dir=runs", *settings.split()])
        assert left.value.code == 0
        (run,) = (tmp_path / "runs").iterdir()
        return list(load_run(run).records)

    return play


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("agent", "more"), [("Odd", ""), ("Odd", "step_timeout_s=60"), ("OddLoop", "")]
)
def test_whatever_an_agent_raises_ends_only_its_episode(
    play_odd: Callable[..., list[EpisodeRecord]], agent: str, more: str, kind: str
) -> None:
    records = play_odd(agent, kind, more)
    assert [record.end for record in records] == [End.AGENT_FAULT] * 2
    for record in records:
        assert record.error is not None
        assert len(record.error.message) <= 2100


@pytest.mark.timeout(60)
def test_a_thread_of_an_agent_s_that_never_ends_is_not_waited_for(
    play_odd: Callable[..., list[EpisodeRecord]],
) -> None:
    settings = "step_timeout_s=0.1"
    records = play_odd("Blocking", "", settings)
    sys.modules[f"odd_Blocking__{len(settings)}"].GO_ON.set()
    assert [record.error and record.error.kind for record in records] == ["timeout"] * 2


@pytest.mark.parametrize(("faults", "code"), [("lose", 0), ("owe", 1)])
def test_the_command_ends_although_a_thread_of_an_agent_s_does_not(
    tmp_path: Path, faults: str, code: int
) -> None:
    (tmp_path / "odd.py").write_text(f"KIND = ''\n{ODD}")
    settings = f"agent=odd:Blocking agent_faults={faults} num_games=1 step_timeout_s=0.1"
    soon = "from agentquest.cli import app, terminal; terminal._LEAVING_S = 0.1; app.main()"
    words = ["-c", soon, "eval", "benchmark=mastermind", "output_dir=runs", *settings.split()]
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, stdout=subprocess.PIPE, text=True, timeout=60
    )
    assert done.returncode == code
    assert "1 × " in done.stdout


def test_a_task_of_an_agent_s_that_exits_ends_only_its_episode(
    play_odd: Callable[..., list[EpisodeRecord]],
) -> None:
    records = play_odd("OddBeside", "exit")
    assert [record.error and record.error.kind for record in records] == ["SystemExit"] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_an_agent_raises_at_the_end_changes_nothing(
    play_odd: Callable[..., list[EpisodeRecord]], kind: str
) -> None:
    assert [record.end for record in play_odd("OddAtTheEnd", kind)] == [End.GAVE_UP] * 2


def test_a_loop_that_goes_on_whatever_it_is_told_is_ended(
    play_odd: Callable[..., list[EpisodeRecord]],
) -> None:
    assert [record.end for record in play_odd("Deaf", "")] == [End.STEP_LIMIT] * 2


def test_what_an_agent_leaves_running_holds_nobody(
    play_odd: Callable[..., list[EpisodeRecord]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentquest.running.play._LEAVING_S", 0.1)
    assert [record.end for record in play_odd("Lingering", "")] == [End.GAVE_UP] * 2
