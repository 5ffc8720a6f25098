"""`agentquest play` through pipes, as a real process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import agentquest
import warm_python
from agentquest.benchmarks.alfworld import AlfWorldAction, AlfWorldDriver, AlfWorldUtils
from agentquest.lib import Agent, Answer, Episode, Observation
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from shared_data import ALFWORLD, needs_alfworld

COMMAND = [sys.executable, "-m", "agentquest", "play"]
BUILTIN = ["alfworld", "--data-path", "builtin"]
HOT = (
    "valid_unseen/pick_heat_then_place_in_recep-Apple-None-Fridge-28/trial_T20191019_023545_909634"
)


def play(
    *args: str, lines: str | list[str] = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Games are recorded below `folder`, or not at all."""
    typed = lines if isinstance(lines, str) else "".join(f"{line}\n" for line in lines)
    more = ["--no-record"] if folder is None else []
    return warm_python.agentquest("play", *args, *more, input=typed, cwd=folder)


def shown_at(output: str, command: str) -> str:
    """What stands between a command's first echo and the next prompt."""
    return output.split(f"> {command}\n", 1)[1].split("\n> ", 1)[0]


def plan_of(task: str) -> list[str]:
    driver = AlfWorldDriver(f"builtin:{task}")
    driver.reset()
    return driver.oracle_actions()


@pytest.mark.parametrize("dialect", ["0.3", "0.4"])
def test_following_the_hints_wins(dialect: str) -> None:
    length = len(plan_of(HOT))
    done = play(*BUILTIN, "--task", HOT, "--dialect", dialect, lines=["hint", "1"] * length)
    assert done.returncode == 0, done.stderr
    assert f"Solved in {length} steps, the fewest possible." in done.stdout
    assert f"With {length} hints." in done.stdout
    again = f"play alfworld data_path=builtin dialect={dialect} --split valid_unseen --task {HOT}"
    assert f"This game again: agentquest {again}\n" in done.stdout
    put = "> put apple" if dialect == "0.3" else "> move apple"
    assert put in done.stdout


def test_hints_can_be_read_by_a_program_and_typed_back() -> None:
    player = subprocess.Popen(
        [*COMMAND, *BUILTIN, "--task", HOT, "--no-record"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert player.stdin is not None
    assert player.stdout is not None
    with player:
        for _ in range(len(plan_of(HOT))):
            player.stdin.write("?\n")
            player.stdin.flush()
            hint = next(line for line in player.stdout if line.startswith("hint"))
            player.stdin.write(hint.partition("1) ")[2])
            player.stdin.flush()
        rest, _ = player.communicate("quit\n", timeout=60)
    assert "Solved in" in rest
    assert player.returncode == 0


def test_the_whole_plan_is_numbered_and_steps_beyond_it_are_counted() -> None:
    plan = plan_of(HOT)
    done = play(
        *BUILTIN,
        "--task",
        HOT,
        lines=["look", "hint all", *map(str, range(1, len(plan) + 1))],
    )
    listed = shown_at(done.stdout, "hint all").splitlines()[1:]
    assert [line.strip() for line in listed] == [f"{i}) {c}" for i, c in enumerate(plan, 1)]
    assert f"Solved in {len(plan) + 1} steps; {len(plan)} would have been enough." in done.stdout


def test_what_the_game_says_is_shown_as_it_is() -> None:
    driver = AlfWorldDriver(f"builtin:{HOT}")
    first = driver.reset()
    commands = ["go to fridge 1", "fly [bold]away[/bold]", "help", "Go To Fridge 1", "7"]
    done = play(*BUILTIN, "--task", HOT, lines=commands)
    assert "cabinet 1–" in done.stdout
    assert f"Goal  {driver.metrics.goal}" in done.stdout
    assert "a cabinet 1" in first.text
    for command in commands:
        said = driver.step(AlfWorldAction(value=command)).text.rstrip("\n")
        assert shown_at(done.stdout, command).startswith(said), command
    repetition = driver.metrics.repetition_rate()
    assert f"5 steps, repetition {repetition:.2f}" in done.stdout


def test_commands_are_grouped_by_verb_and_chosen_by_number() -> None:
    driver = AlfWorldDriver(f"builtin:{HOT}")
    driver.reset()
    admissible = list(driver.step(AlfWorldAction(value="go to fridge 1")).admissible)
    done = play(*BUILTIN, "--task", HOT, lines=["go to fridge 1", "commands", "1", "999"])
    rows = shown_at(done.stdout, "commands").splitlines()
    assert [row.split("  ")[0].strip() for row in rows] == ["examine", "go to", "open", "other"]
    assert "open" in rows[2]
    assert sum(row.count(")") for row in rows) == len(admissible)
    assert "> 1\n> examine fridge 1\nThe fridge 1 is closed." in done.stdout
    assert f"The last list has numbers 1 to {len(admissible)}." in done.stdout


def test_undo_takes_back_the_step_and_restart_all_of_them() -> None:
    done = play(
        *BUILTIN,
        "--task",
        HOT,
        lines=[
            "undo",
            "go to fridge 1",
            "open fridge 1",
            "undo",
            "examine fridge 1",
            "restart",
            "look",
        ],
    )
    assert "There is nothing to undo." in done.stdout
    taken_back = "> undo\nUndone: open fridge 1\nYou arrive at fridge 1. The fridge 1 is closed.\n"
    assert taken_back in done.stdout
    assert shown_at(done.stdout, "examine fridge 1").startswith("The fridge 1 is closed.")
    assert "2 steps" in shown_at(done.stdout, "examine fridge 1")
    assert "Goal" in shown_at(done.stdout, "restart")
    assert "1 step," in shown_at(done.stdout, "look")


def test_quit_and_end_of_input_leave_with_success() -> None:
    for lines in (["look", "quit", "look"], ["look"], "look"):
        done = play(*BUILTIN, "--task", HOT, lines=lines)
        assert done.returncode == 0, done.stderr
        assert "Left after 1 step, progress 0%." in done.stdout
        assert done.stderr == ""


def test_leaving_at_the_menus() -> None:
    for lines in ([], ["quit"], ["4"], ["4", "quit"]):
        done = play(*BUILTIN, lines=lines)
        assert done.returncode == 0, done.stderr
        assert "Goal" not in done.stdout


def test_menus_choose_type_and_task() -> None:
    done = play(*BUILTIN, lines=["9", "recep", "4", "no such game", "3", "quit"])
    assert "'9' is not a task type; there are" in done.stdout
    assert "'recep' is not a task type; there are" in done.stdout
    assert "no task of this split is called 'no such game'" in done.stdout
    assert "Game, 1 to 23" in done.stdout
    assert "Showing 8 of 23 games; any other number works too." in done.stdout
    listed = AlfWorldUtils.load_data("heat", data_path="builtin")
    assert listed[2].removeprefix("builtin:") in done.stdout


def test_enter_is_any_game_the_same_for_the_same_seed() -> None:
    def games(seed: str, *lines: str) -> list[str]:
        done = play(*BUILTIN, "--seed", seed, lines=[*lines, "next", "next"])
        return [line for line in done.stdout.splitlines() if line.startswith("valid_unseen/")]

    first = games("1", "")
    assert len(set(first)) == 3
    assert games("1", "") == first
    assert games("2", "") != first
    of_type = games("1", "cool", "")
    assert len(set(of_type)) == 3
    assert all("/pick_cool_" in task for task in of_type)


def test_the_next_game_follows_after_a_win() -> None:
    lines = ["hint", "1"] * len(plan_of(HOT))
    done = play(*BUILTIN, "--type", "heat", "--task", "1", lines=[*lines, "look", ""])
    assert HOT in done.stdout
    assert "The game is over" in shown_at(done.stdout, "look")
    second = AlfWorldUtils.load_data("heat", data_path="builtin")[1].removeprefix("builtin:")
    assert second in done.stdout.split("Solved in")[1]


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ([*BUILTIN, "--task", "no-such-game"], ["'no-such-game'", "agentquest tasks"]),
        ([*BUILTIN, "--task", "-Fridge-"], ["'-Fridge-'", "matches 8", "-Fridge-"]),
        ([*BUILTIN, "--task", "135"], ["135", "1 to 134"]),
        ([*BUILTIN, "--task", "9" * 5000], ["9999"]),
        ([*BUILTIN, "--split", "test"], ["'test'", "valid_seen"]),
        ([*BUILTIN, "--type", "juggle"], ["'juggle'", "pick_two_obj_and_place"]),
        ([*BUILTIN, "--dialect", "9"], ["'9'", "0.3, 0.4"]),
        (["chess"], ["'chess'", "alfworld"]),
        (["alfword"], ["did you mean 'alfworld'"]),
    ],
)
def test_a_mistake_is_one_line_that_names_it(args: list[str], named: list[str]) -> None:
    done = play(*args)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    for text in named:
        assert text in done.stderr


def test_bytes_that_are_no_text_are_a_command_the_game_does_not_know() -> None:
    done = subprocess.run(
        [*COMMAND, *BUILTIN, "--task", HOT, "--no-record"],
        input=b"\xff\xfe\x00\x1b\nlook\n",
        capture_output=True,
        timeout=120,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0, done.stderr
    assert b"Nothing happens." in done.stdout
    assert b"2 steps" in done.stdout


def recorded(folder: Path) -> list[EpisodeRecord]:
    (run,) = (folder / "runs").iterdir()
    assert run.name.startswith("alfworld-valid_unseen-human-")
    return list(agentquest.load_run(run).records)


def test_games_are_recorded_like_those_of_any_agent(tmp_path: Path) -> None:
    plan = plan_of(HOT)
    typed = ["fly away", "look", "undo", "hint", "1", *plan[1:]]
    done = play(*BUILTIN, "--task", HOT, lines=[*typed, "", "look"], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert done.stdout.count(f"Recorded in runs/{run.name}\n") == 2
    won, left = recorded(tmp_path)
    assert (won.task_id, won.agent, won.end) == (HOT, "human", End.SOLVED)
    assert (won.scored, won.success, won.progress) == (True, True, 1.0)
    assert [(step.action, step.how, step.valid) for step in won.steps] == [
        ("fly away", "typed", False),
        (plan[0], "after_hint", True),
        *((command, "typed", True) for command in plan[1:]),
    ]
    assert won.facts == {"dialect": "0.4", "hints": "1", "undone": "1"}
    assert won.milestones == plan
    assert (left.end, left.scored, len(left.steps)) == (End.CANCELLED, False, 1)
    # What the loop writes of an agent that does the same is the same.
    again = agentquest.play("alfworld", task=HOT, agent=Repeats, data_path="builtin")
    assert [(s.observation, s.admissible, s.progress, s.reward) for s in won.steps] == [
        (s.observation, s.admissible, s.progress, s.reward) for s in again.steps
    ]


class Repeats(Agent):
    async def begin(self, episode: Episode) -> None:
        self._commands = iter(["fly away", *plan_of(HOT)])

    async def act(self, observation: Observation) -> Answer:
        return Answer(action=next(self._commands))


def test_the_same_game_again_is_a_further_trial_and_one_without_a_step_none(
    tmp_path: Path,
) -> None:
    for lines in (["look"], ["inventory"], ["hint", "quit"]):
        play(*BUILTIN, "--type", "heat", "--task", HOT, lines=lines, folder=tmp_path)
    first, second = recorded(tmp_path)
    assert (first.key, second.key) == (f"{HOT}#0", f"{HOT}#1")
    told = subprocess.run(
        [sys.executable, "-m", "agentquest", "report", *map(str, (tmp_path / "runs").iterdir())],
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr
    assert "stopped half-way" in told.stdout


def test_a_folder_that_cannot_be_written_to_costs_the_record_and_not_the_game(
    tmp_path: Path,
) -> None:
    (tmp_path / "runs").write_text("in the way")
    done = play(*BUILTIN, "--task", HOT, lines=["look", "next", "quit"], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "This game is not recorded: cannot make runs/" in done.stdout


@needs_alfworld
def test_a_published_game_is_won_by_its_hints() -> None:
    task = AlfWorldUtils.load_data("two", "valid_seen", ALFWORLD, playable=True)[0]
    wanted = "/".join(Path(task).parts[-3:])
    driver = AlfWorldDriver(task)
    driver.reset()
    length = len(driver.oracle_actions())
    done = play(
        *["alfworld", "--split", "valid_seen", "--data-path", str(ALFWORLD), "--task", wanted],
        lines=["hint", "1"] * length,
    )
    assert f"Solved in {length} steps, the fewest possible." in done.stdout
