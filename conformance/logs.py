"""Replays public logs of other people's runs on AgentQuest's ALFWorld engine.

    .venv/bin/python conformance/logs.py --data ~/.cache/alfworld --adapt FILE --mint FOLDER

`--adapt` is results/ADaPT_maxd3_alfworld_text_davinci_003.json of archiki/ADaPT, `--mint` a copy of
xingyaoww/mint-bench (its gt_traj.txt files). Every opening, every observation and whether the
game was won must be as logged. Ends with 1 on any difference, and with 2 when it could not run.

A difference that is the log's own is counted apart: see `_THEIRS`.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from agentquest.benchmarks.alfworld import AlfWorldAction, AlfWorldDriver
from agentquest.benchmarks.alfworld.tasks import data_root
from agentquest.errors import AgentQuestError, DataError
from agentquest.safe_text import say

_SPLIT = "valid_unseen"
_DIALECT = "0.3"
_MOST_SHOWN = 20
_ARRIVAL = re.compile(r"^You arrive at (?:loc \d+|the location)\. ")
_CALL = re.compile(r"^([a-z_]+)\((.*)\)$")
_BLOCK = re.compile(
    r"<execute>\n(.*?)\n</execute>\s+Observation:\n(.*?)(?=\nAssistant:|\Z)", re.DOTALL
)
# A call of MINT's Python interface, as the game's command.
_COMMANDS = {
    "goto": "go to {0}",
    "take": "take {0} from {1}",
    "take_from": "take {0} from {1}",
    "put": "put {0} in/on {1}",
    "open": "open {0}",
    "open_receptacle": "open {0}",
    "close": "close {0}",
    "close_receptacle": "close {0}",
    "toggle": "use {0}",
    "use": "use {0}",
    "clean": "clean {0} with {1}",
    "heat": "heat {0} with {1}",
    "cool": "cool {0} with {1}",
    "look": "look",
}


# One block of MINT's has been edited: from a shelf at the same location the game says
# `Nothing happens.`, also in MINT's own logs of models.
_THEIRS = frozenset(
    {
        "pick_two_obj_and_place-KeyChain-None-Safe-219/trial_T20190909_012027_782483: "
        "step 11, go to shelf 3"
    }
)


class LoggedGame(NamedTuple):
    """What somebody's run of a game showed; None where the log does not say."""

    name: str
    opening: str | None
    steps: list[tuple[str, str]]
    won: bool | None


@dataclass
class Tally:
    """What has been compared so far."""

    games: int = 0
    openings: int = 0
    steps: int = 0
    theirs: int = 0
    differences: list[str] = field(default_factory=list)

    def compare(self, where: str, logged: object, ours: object) -> None:
        if logged == ours:
            return
        if where in _THEIRS:
            self.theirs += 1
        else:
            self.differences.append(f"{where}\n  logged: {logged}\n  ours:   {ours}")

    def replay(self, game: LoggedGame, folder: Path) -> None:
        """Play the logged commands and compare what is said."""
        driver = AlfWorldDriver(problem=folder / game.name, dialect=_DIALECT)
        first = driver.reset().text
        self.games += 1
        if game.opening is not None:
            self.openings += 1
            ours = "\n".join(first.split("\n\n")[1:])
            self.compare(f"{game.name}: opening", game.opening, ours)
        for number, (command, said) in enumerate(game.steps, 1):
            self.steps += 1
            ours = driver.step(AlfWorldAction(value=command)).text
            where = f"{game.name}: step {number}, {command}"
            self.compare(where, _ARRIVAL.sub("", said), _ARRIVAL.sub("", ours))
        if game.won is not None:
            self.compare(f"{game.name}: won", game.won, driver.outcome.success)

    def report(self, source: str) -> None:
        say(f"{source}: {self.games} games, {self.openings} openings, {self.steps} steps compared")
        for line in self.differences[:_MOST_SHOWN]:
            say(line)
        say(f"{len(self.differences)} differences, {self.theirs} that are the log's own")


def read_adapt(file: Path) -> Iterator[LoggedGame]:
    """ADaPT's traces: `command`, its answer and `>` in turn, thoughts answered `OK.`."""
    for games in _read_json(file).values():
        for name, logged in games.items():
            if not isinstance(logged, dict):
                continue
            turns = [turn.strip().split("\n", 1) for turn in logged["trace"].split("\n>")]
            said = [(turn[0], turn[1].strip()) for turn in turns if len(turn) == 2]
            steps = [(command, answer) for command, answer in said if answer != "OK."]
            yield LoggedGame(name, logged["problem"], steps, bool(logged["reward"]))


def read_mint(folder: Path) -> Iterator[LoggedGame]:
    """MINT's reference solutions, which win: calls in blocks, each answered by a line."""
    for file in sorted(folder.rglob("gt_traj.txt")):
        steps: list[tuple[str, str]] = []
        for calls, answers in _BLOCK.findall(file.read_text(encoding="utf-8")):
            commands = [_as_command(line.strip()) for line in calls.splitlines() if line.strip()]
            steps += zip(commands, answers.strip().splitlines(), strict=True)
        yield LoggedGame(f"{file.parent.parent.name}/{file.parent.name}", None, steps, True)


def _as_command(call: str) -> str:
    found = _CALL.match(call)
    if found is None or found[1] not in _COMMANDS:
        raise DataError(f"{call!r} is no call of a known function")
    return _COMMANDS[found[1]].format(*re.findall(r'"([^"]*)"', found[2]))


def _read_json(file: Path) -> dict[str, dict[str, object]]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {file}: {error}") from None
    return {kind: games for kind, games in content.items() if isinstance(games, dict)}


def main() -> int:
    parser = argparse.ArgumentParser(description="Replay public logs on AgentQuest's engine.")
    parser.add_argument("--data", required=True, metavar="DIR", help="the published games")
    parser.add_argument("--adapt", type=Path, metavar="FILE", help="ADaPT's results for ALFWorld")
    parser.add_argument("--mint", type=Path, metavar="FOLDER", help="a copy of mint-bench")
    options = parser.parse_args()
    differences = games = 0
    try:
        root = data_root(options.data)
        if root is None:
            raise DataError("--data: built-in homes are in nobody's logs")
        folder = root / _SPLIT
        for source, read in (("adapt", read_adapt), ("mint", read_mint)):
            path = getattr(options, source)
            if path is None:
                continue
            tally = Tally()
            for game in read(path):
                tally.replay(game, folder)
            tally.report(source)
            games += tally.games
            differences += len(tally.differences)
    except AgentQuestError as error:
        say(f"error: {error}")
        return 2
    return 2 if not games else int(differences > 0)


if __name__ == "__main__":
    sys.exit(main())
