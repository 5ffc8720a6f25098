"""Any program as an agent: what it says is taken for what it is, and nothing else is hurt."""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentquest.agents.command import CommandAgent, CommandSettings, Line, read_line
from agentquest.config import load_config
from agentquest.errors import ConfigError
from agentquest.lib.settings import validate_settings
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from agentquest.running.run import Run
from episode_players import play_unrecorded

SAY = "import json, sys\nfor line in sys.stdin:\n    told = json.loads(line)\n"
ACT = SAY + "    if told['type'] == 'act':\n"
KEY = "sk-a-key-that-nobody-may-see"


def played(folder: Path, source: str, games: int = 1, **settings: Any) -> list[EpisodeRecord]:
    """Games of a Python program, at most three steps each."""
    program = folder / "agent.py"
    program.write_text(source, encoding="utf-8")
    command = [sys.executable, "-u", str(program)]
    config, _ = load_config(
        settings={
            "benchmark_settings": {"data_path": "builtin"},
            "num_games": games,
            "max_steps": 3,
            "agent": {"name": "command", "command": command, **settings},
        }
    )
    return asyncio.run(play_unrecorded(Run(config)))


def the_fault(records: list[EpisodeRecord]) -> str:
    (record,) = records
    assert (record.end, record.scored) == (End.AGENT_FAULT, False)
    assert record.error is not None
    assert record.error.source == "agent"
    return record.error.message


def test_it_is_told_all_and_its_actions_are_played(tmp_path: Path) -> None:
    source = (
        f"log = open({str(tmp_path / 'log')!r}, 'w')\n"
        + SAY
        + "    print(line, end='', file=log, flush=True)\n"
        + "    if told['type'] == 'act':\n"
        + "        print(json.dumps({'action': 'look', 'thought': f\"turn {told['step']}\"}))\n"
    )
    (record,) = played(tmp_path, source)
    assert [step.action for step in record.steps] == ["look"] * 3
    assert [step.reasoning for step in record.steps] == ["turn 1", "turn 2", "turn 3"]
    told = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [message["type"] for message in told] == ["begin", "act", "act", "act", "end"]
    assert (told[0]["goal"], told[0]["max_steps"]) == (record.goal, 3)
    assert told[0]["tools"][0]["name"] == "act"
    assert told[1]["observation"] == record.first_observation
    assert told[2]["observation"] == record.steps[0].observation
    assert "look" in told[1]["admissible"]


@pytest.mark.parametrize(
    ("line", "how"),
    [
        ("look", "not_json"),
        ("{'action': 'look'}", "not_json"),
        ('["look"]', "not_json"),
        ('{"act": "look"}', "no_action"),
        ('{"action": ["look"]}', "no_action"),
        ('{"action": null}', "no_action"),
        ("[" * 100_000, "not_json"),
    ],
)
def test_what_is_no_action_is_recorded_as_what_it_was(line: str, how: str) -> None:
    answer = read_line(Line(line))
    assert (answer.action, answer.how) == (None, how)
    assert answer.reply == line[:20_000]
    assert "nothing was done" in answer.told


def test_a_line_without_an_action_costs_a_step_and_is_told(tmp_path: Path) -> None:
    source = ACT + (
        "        junk = told['step'] == 1\n"
        "        print('hm' if junk else json.dumps({'action': told['observation'][:16]}))\n"
    )
    (record,) = played(tmp_path, source)
    assert [step.how for step in record.steps] == ["not_json", "verbatim", "verbatim"]
    assert record.steps[1].action == "Your line was no"


def test_each_line_is_one_answer_in_its_order(tmp_path: Path) -> None:
    source = ACT + '        print(\'{"action": "look"}\\nchatter\')\n'
    (record,) = played(tmp_path, source)
    assert [step.how for step in record.steps] == ["verbatim", "not_json", "verbatim"]


def test_a_huge_line_is_no_answer_and_the_next_is(tmp_path: Path) -> None:
    source = ACT + (
        "        huge = 3_000_000 if told['step'] == 1 else 0\n"
        "        print(json.dumps({'action': 'look' + 'x' * huge}))\n"
    )
    (record,) = played(tmp_path, source)
    assert [step.how for step in record.steps] == ["too_long", "verbatim", "verbatim"]


def test_a_crash_is_the_agent_s_fault_and_says_why(tmp_path: Path) -> None:
    source = ACT + "        raise SystemExit('I have lost my way')\n"
    assert the_fault(played(tmp_path, source)) == (
        "the program ended with exit code 1: I have lost my way"
    )


def test_keys_in_what_it_says_are_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    source = (
        "import os\n"
        + ACT
        + (
            "        if told['step'] == 2: raise SystemExit('not ' + os.environ['SOME_API_KEY'])\n"
            "        print(os.environ['SOME_API_KEY'])\n"
        )
    )
    (record,) = played(tmp_path, source)
    assert record.steps[0].reply == "***"
    assert record.error is not None
    assert record.error.message.endswith("not ***")
    assert KEY not in record.model_dump_json()


def test_one_that_does_not_answer_loses_its_time_and_its_children(tmp_path: Path) -> None:
    source = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(\n"
        "    [sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    fault = the_fault(played(tmp_path, source, timeout_s=2.0))
    assert fault == "the program gave no answer within 2 s"
    child = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 60
    while is_alive(child):
        assert time.monotonic() < until, "nobody ended it"
        time.sleep(0.05)


def is_alive(process: int) -> bool:
    """A zombie that nobody has collected is as dead as one that is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_flood_of_its_standard_error_blocks_nobody(tmp_path: Path) -> None:
    source = ACT + (
        "        sys.stderr.write('x' * 1_000_000)\n        print('{\"action\": \"look\"}')\n"
    )
    (record,) = played(tmp_path, source)
    assert [step.action for step in record.steps] == ["look"] * 3


def test_it_can_give_up_and_say_what_its_model_used(tmp_path: Path) -> None:
    source = ACT + (
        "        used = {'model': 'm', 'prompt_tokens': 7, 'completion_tokens': 2, 'cost': 0.5}\n"
        "        last = told['step'] == 2\n"
        "        print(json.dumps({'give_up': True} if last else"
        " {'action': 'look', 'usage': used}))\n"
    )
    (record,) = played(tmp_path, source)
    assert record.end is End.GAVE_UP
    (call,) = record.steps[0].calls
    assert call.usage is not None
    assert (call.model, call.usage.prompt_tokens, call.cost) == ("m", 7, 0.5)


@pytest.mark.parametrize(
    "usage",
    [
        '{"prompt_tokens": "many", "completion_tokens": 1, "cost": 1.7e308}',
        '{"prompt_tokens": -6, "completion_tokens": 1, "cost": -30}',
        f'{{"prompt_tokens": 1, "completion_tokens": {10**400}, "cost": {10**400}}}',
        f'{{"prompt_tokens": {"9" * 10_000}, "completion_tokens": 1}}',
        '{"prompt_tokens": true, "cost": NaN}',
        "{}",
    ],
)
def test_numbers_without_sense_are_unknown_and_harm_nothing(usage: str) -> None:
    answer = read_line(Line(f'{{"action": "look", "usage": {usage}}}'))
    (call,) = answer.calls
    assert (answer.action, call.usage, call.cost) == ("look", None, None)


async def test_one_process_plays_many_games_at_once(tmp_path: Path) -> None:
    """It answers in the opposite order, and only when all have asked."""
    program = tmp_path / "agent.py"
    program.write_text(
        "import os\nasked = []\n" + ACT + "        asked.append(told['episode'])\n"
        "        if len(asked) == 3:\n"
        "            for number in reversed(asked):\n"
        "                print(json.dumps({'episode': number,"
        " 'action': f'game {number} {os.getpid()}'}), flush=True)\n"
        "            asked = []\n"
    )
    settings = CommandSettings(command=(sys.executable, str(program)), process="shared")
    shared = await CommandAgent.open_shared(settings)
    from episode_players import a_player, builtin_homes

    homes = builtin_homes()
    agents = [CommandAgent(settings, shared) for _ in range(3)]
    players = [a_player(homes, agent, place, max_steps=2) for place, agent in enumerate(agents)]
    records = await asyncio.gather(*(player.play() for player in players))
    assert shared is not None
    await shared.close()
    said = [[str(step.action) for step in record.steps] for record in records]
    assert all(len(steps) == 2 and steps[0] == steps[1] for steps in said)
    assert len({steps[0] for steps in said}) == 3
    assert len({steps[0].split()[2] for steps in said}) == 1


def test_one_for_all_that_crashes_is_started_again(tmp_path: Path) -> None:
    source = (
        "games = 0\n"
        + SAY
        + (
            "    games += told['type'] == 'begin'\n"
            "    if games == 2: raise SystemExit('enough')\n"
            "    if told['type'] == 'act': print('{\"action\": \"look\"}', flush=True)\n"
        )
    )
    records = played(tmp_path, source, games=3, process="shared")
    ends = [record.end for record in records]
    assert ends == [End.STEP_LIMIT, End.AGENT_FAULT, End.STEP_LIMIT]


def test_a_program_that_is_not_there_is_said_at_once() -> None:
    with pytest.raises(ConfigError, match=r"agent.command: no program 'no-such-thing' was found"):
        validate_settings(CommandSettings, {"command": "no-such-thing --fast"}, "agent")
    settings = validate_settings(
        CommandSettings, {"command": f"{sys.executable} 'a b.py'"}, "agent"
    )
    assert settings.command == (sys.executable, "a b.py")
