"""An agent that crashes: its author is told what happened and where, once, and finds it later."""

import html
from pathlib import Path

import pytest

from agentquest import load_run
from agentquest.cli.app import main
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
    message, traceback = describe_crash(caught.value)
    assert message.startswith("ValueError: *** is wrong at test_eval_crash.py:")
    assert len(traceback) < 4000
    assert "sk-0123456789abcdef" not in traceback
    assert str(Path(__file__).parent) not in traceback


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_without_words_is_named() -> None:
    try:
        raise Unspeakable
    except Unspeakable as error:
        message, traceback = describe_crash(error)
    assert message.startswith("Unspeakable at test_eval_crash.py:")
    assert "Unspeakable" in traceback
