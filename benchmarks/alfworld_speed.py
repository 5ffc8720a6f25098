"""ALFWorld: opening games, stepping, planning and memory, beside the reference.

Every game is opened, walked and planned in both engines one right after the
other, so that both see the same machine. All times are processor time; the
reference's is taken inside its own process. Plans are compared over the same
states; a plan that the reference did not finish counts with what it had spent.

What is timed is the work that a user pays for. A game is opened, and a state planned in,
for the first time; rows about a result that was kept from before say "again".
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path

from alfworld_games import game_files, live_games
from alfworld_report import LIVE_IN_REFERENCE, PlanTime, Samples, report
from measuring import machine, quantile, seconds_of
from reference_client import ReferenceClient, ReferenceTimeout
from reference_install import reference_python, reference_versions
from walks import random_walk, sensible_walk

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.errors import AgentQuestError
from agentquest.safe_text import say

_WARM_UP_GAMES = 2
_SPEED_SECONDS = 2


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    try:
        python = None
        if not options.no_reference:
            python = reference_python(options.reference_python, install=False)
        with tempfile.TemporaryDirectory() as folder:
            _run(options, python, Path(folder))
    except AgentQuestError as error:
        say(f"error: {error}")
        return 2
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py alfworld", description=__doc__)
    parser.add_argument("--games", type=int, default=2, metavar="N", help="games per task type")
    parser.add_argument("--steps", type=int, default=40, metavar="N", help="our steps per game")
    parser.add_argument("--reference-steps", type=int, default=12, metavar="N")
    parser.add_argument("--repeats", type=int, default=10, metavar="N", help="ours, per game")
    parser.add_argument("--plan-games", type=int, default=6, metavar="N", help="the reference's")
    parser.add_argument("--plan-seconds", type=float, default=30, metavar="S")
    parser.add_argument("--live", type=int, default=1000, metavar="N", help="games held in memory")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", metavar="DIR", help="real games instead of built-in homes")
    parser.add_argument("--reference-python", metavar="PATH")
    parser.add_argument("--no-reference", action="store_true", help="measure ours alone")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace, python: Path | None, folder: Path) -> None:
    say(machine())
    say(f"The reference is {reference_versions(python)}." if python else "No reference here.")
    dice = random.Random(options.seed)
    files = game_files(options.data, options.games, dice, folder, python)
    walks = [_walk(file, options.steps, random.Random(f"{options.seed} {file}")) for file in files]
    say(f"{len(files)} games, {options.steps} steps each, {options.repeats} repeats of ours")
    for file in files[:_WARM_UP_GAMES]:
        measure_ours(Samples(), file, walks[0], 1)
    samples = Samples()
    spread = max(1, len(files) // max(1, options.plan_games))
    planned = set(range(0, len(files), spread)) if options.plan_games else set()
    with _Reference(python, options) as reference:
        for number, (file, walk) in enumerate(zip(files, walks, strict=True)):
            start = time.monotonic()
            measure_ours(samples, file, walk, options.repeats)
            reference.measure(samples, file, walk, number in planned)
            took = time.monotonic() - start
            say(f"[{number + 1}/{len(files)}] {took:.1f} s  {_task_name(file)}")
        speed = _steps_per_second(files, walks)
        theirs_live = reference.live_bytes(files)
    ours_live = _live_bytes(live_games(options.data, options.live, folder), options.live)
    say()
    say(report(samples, speed, ours_live, theirs_live, options.live, options.plan_seconds))


def _task_name(file: Path) -> str:
    trial = file if file.name.startswith("trial_") else file.parent
    return trial.parent.name


def _walk(file: Path, steps: int, dice: random.Random) -> list[str]:
    """Half a walk of wandering, half of playing to win; both engines are asked the same."""
    engine = AlfWorldEngine.load(file)
    wandering = islice(random_walk(engine, dice), steps // 2)
    commands: list[str] = []
    for command in islice(chain(wandering, sensible_walk(engine, dice)), steps):
        engine.step(command)
        commands.append(command)
    return commands


def _open(file: Path) -> AlfWorldEngine:
    engine = AlfWorldEngine.load(file)
    engine.reset()
    assert engine.admissible
    return engine


def _step(engine: AlfWorldEngine, command: str) -> list[str]:
    engine.step(command)
    return engine.admissible


def measure_ours(samples: Samples, file: Path, walk: Sequence[str], repeats: int) -> None:
    for _ in range(repeats):
        _measure_game(samples, file, walk)
    engine = _open(file)
    for command in walk:
        engine.step(command)
        # A game that is won has nothing left to plan, which would flatter the figures.
        if not engine.won:
            samples.ours["walk plan"].append(plan_seconds(engine))


def _measure_game(samples: Samples, file: Path, walk: Sequence[str]) -> None:
    """One game, gone when this returns: the next one is opened anew, not beside this one."""
    opened: list[AlfWorldEngine] = []
    samples.ours["open"].append(seconds_of(lambda: opened.append(_open(file))))
    samples.ours["open again"].append(seconds_of(partial(_open, file)))
    (engine,) = opened
    samples.ours["plan"].append(plan_seconds(engine))
    samples.ours["plan again"].append(seconds_of(engine.plan))
    for command in walk:
        samples.ours["step"].append(seconds_of(partial(_step, engine, command)))


def plan_seconds(engine: AlfWorldEngine) -> float:
    """A plan from nothing: what was worked out for this state before is forgotten."""
    engine.restore(engine.state)
    return seconds_of(engine.plan)


def _steps_per_second(files: Sequence[Path], walks: Sequence[Sequence[str]]) -> float:
    """Whole walks one after the other, timed together."""
    engines = [_open(file) for file in files]
    steps, start = 0, time.process_time()
    while time.process_time() - start < _SPEED_SECONDS:
        for engine, walk in zip(engines, walks, strict=True):
            engine.reset()
            for command in walk:
                _step(engine, command)
            steps += len(walk)
    return steps / (time.process_time() - start)


def _live_bytes(paths: Sequence[Path], count: int) -> int:
    child = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("alfworld_memory.py")), str(count)],
        input="\n".join(map(str, paths)),
        capture_output=True,
        text=True,
        check=True,
    )
    said = json.loads(child.stdout)
    return int(said["after"]) - int(said["before"])


class _Reference:
    """The reference where there is one; otherwise nothing is measured."""

    def __init__(self, python: Path | None, options: argparse.Namespace) -> None:
        self._client = ReferenceClient(python) if python else None
        self._steps: int = options.reference_steps
        self._limit: float = options.plan_seconds

    def __enter__(self) -> "_Reference":
        return self

    def __exit__(self, *error: object) -> None:
        if self._client is not None:
            self._client.close()

    def measure(self, samples: Samples, file: Path, walk: Sequence[str], planned: bool) -> None:
        if self._client is None:
            return
        samples.theirs["open"].append(self._client.open(file).seconds)
        walk = walk[: self._steps]
        for command in walk:
            samples.theirs["step"].append(self._client.step(command).seconds)
        if planned:
            self._plan_after(samples.plans["plan"], file, ())
            for cut in (len(walk) // 2, len(walk)):
                self._plan_after(samples.plans["walk plan"], file, walk[:cut])

    def _plan_after(self, found: list[PlanTime], file: Path, commands: Sequence[str]) -> None:
        """Both planners in one state; a won game has nothing to plan."""
        assert self._client is not None
        engine = _open(file)
        for command in commands:
            engine.step(command)
        if engine.won:
            return
        ours = quantile([plan_seconds(engine) for _ in range(5)], 0.5)
        self._client.open(file)
        for command in commands:
            self._client.step(command)
        try:
            _, theirs = self._client.plan(self._limit)
            found.append(PlanTime(ours, theirs, True))
        except ReferenceTimeout as late:
            if late.seconds is not None:
                found.append(PlanTime(ours, late.seconds, False))

    def live_bytes(self, files: Sequence[Path]) -> float | None:
        """Bytes of one more live game, in a fresh process that has opened one already."""
        if self._client is None:
            return None
        self._client.close()
        self._client.open(files[0], keep=True)
        before = self._client.memory()
        others = [files[n % len(files)] for n in range(1, LIVE_IN_REFERENCE)]
        for file in others:
            self._client.open(file, keep=True)
        return (self._client.memory() - before) / len(others)
