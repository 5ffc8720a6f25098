"""Holds AgentQuest's ALFWorld engine against the reference, step by step.

    .venv/bin/python conformance/run.py                    built-in homes, dialect 0.4
    .venv/bin/python conformance/run.py --dialect 0.3
    .venv/bin/python conformance/run.py --data ~/.cache/alfworld --plans

Both engines play the same commands, and every observation, every list of
admissible commands and the won flag must be equal. Ends with 1 on any
difference, and with 2 when it could not run.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from comparison import Difference, compare_plans, play_both
from games import Case, builtin_cases, real_cases, twice_placed
from reference_client import ReferenceClient, ReferenceFailure, ReferenceTimeout
from reference_install import reference_logic, reference_python
from walks import KINDS

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.errors import AgentQuestError, DataError
from agentquest.safe_text import say

_SHOWN_IN_FULL = 5


def main() -> int:
    options = _options()
    try:
        return _run(options)
    except AgentQuestError as error:
        say(f"error: {error}")
        return 2


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Compare AgentQuest's ALFWorld engine with the reference, step by step."
    )
    parser.add_argument("--games", type=int, default=4, metavar="N", help="games per task type")
    parser.add_argument("--steps", type=int, default=40, metavar="N", help="commands per game")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dialect", choices=("0.3", "0.4"), default="0.4")
    parser.add_argument("--walk", choices=sorted(KINDS), help="one kind of walk instead of all")
    parser.add_argument("--data", metavar="DIR", help="real games instead of built-in homes")
    parser.add_argument(
        "--two-locations", action="store_true", help="built-in homes with receptacles at two spots"
    )
    parser.add_argument("--plans", action="store_true", help="also compare oracle plan lengths")
    parser.add_argument(
        "--plan-seconds", type=float, default=60, metavar="S", help="give up on a plan after this"
    )
    parser.add_argument(
        "--reference-python", metavar="PATH", help="an interpreter that has alfworld 0.4.2"
    )
    options = parser.parse_args()
    if options.data is not None and options.two_locations:
        parser.error("--two-locations changes built-in homes and cannot go with --data")
    return options


def _run(options: argparse.Namespace) -> int:
    python = reference_python(options.reference_python)
    assert python is not None
    logic = reference_logic(python, options.dialect)
    dice = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder, ReferenceClient(python) as reference:
        if options.data is None:
            place = twice_placed if options.two_locations else None
            cases = builtin_cases(options.games, dice, Path(folder), logic, place)
        else:
            own = options.dialect == "0.4"
            cases = real_cases(options.data, options.games, dice, Path(folder), logic, own)
        say(f"{len(cases)} games, {options.steps} steps each, dialect {options.dialect}")
        tally = Tally()
        for number, case in enumerate(cases, 1):
            before = time.monotonic()
            line = _compare(case, number, options, reference, tally)
            say(f"[{number}/{len(cases)}] {line} ({time.monotonic() - before:.1f} s)  {case.name}")
    return tally.report()


def _compare(
    case: Case,
    number: int,
    options: argparse.Namespace,
    reference: ReferenceClient,
    tally: "Tally",
) -> str:
    try:
        engine = AlfWorldEngine.load(case.file)
    except DataError as error:
        tally.refused.append(f"{case.name}: {error}")
        return "not read by AgentQuest"
    kind = options.walk or list(KINDS)[number % len(KINDS)]
    dice = random.Random(f"{options.seed} {case.name}")
    try:
        outcome = play_both(case, engine, reference, KINDS[kind], options.steps, dice)
    except ReferenceFailure as error:
        # It cannot open a problem whose goal no plan can reach; our oracle must say the same.
        engine.reset()
        if not engine.plan().reachable:
            tally.hopeless.append(case.name)
            return "cannot be won, so the reference does not open it"
        tally.broken.append(f"{case.name}: {error}")
        return "the reference broke"
    except ReferenceTimeout as error:
        tally.broken.append(f"{case.name}: {error}")
        return "the reference took too long"
    tally.games += 1
    tally.steps += outcome.steps
    tally.answered += outcome.answered
    tally.won += outcome.won
    tally.differences += outcome.differences
    line = "DIFFERENT" if outcome.differences else f"equal, {kind} walk"
    if options.plans:
        line += ", " + _compare_plans(case, engine, options.plan_seconds, reference, tally)
    return line


def _compare_plans(
    case: Case, engine: AlfWorldEngine, timeout: float, reference: ReferenceClient, tally: "Tally"
) -> str:
    try:
        found = compare_plans(case, engine, reference, timeout)
    except ReferenceTimeout:
        tally.late_plans += 1
        return f"no plan from the reference in {timeout:g} s"
    tally.plans += 1
    tally.differences += found
    return "PLANS DIFFER" if found else "plan equal"


class Tally:
    """What has been compared so far."""

    def __init__(self) -> None:
        self.games = self.steps = self.answered = self.won = self.plans = self.late_plans = 0
        self.differences: list[Difference] = []
        self.refused: list[str] = []
        self.broken: list[str] = []
        self.hopeless: list[str] = []

    def report(self) -> int:
        say()
        for difference in self.differences[:_SHOWN_IN_FULL]:
            say(f"{difference}\n")
        for difference in self.differences[_SHOWN_IN_FULL:]:
            say(f"{difference.game}: {difference.about}")
        for line in self.refused:
            say(f"not read by AgentQuest: {line}")
        for line in self.broken:
            say(f"not played by the reference: {line}")
        if self.hopeless:
            say(f"{len(self.hopeless)} games cannot be won (our oracle) or opened (the reference)")
        say(
            f"compared {self.games} games ({self.won} won on the way), {self.steps} steps "
            f"({self.answered} of them not 'Nothing happens.')"
        )
        if self.plans or self.late_plans:
            say(f"compared {self.plans} plans; {self.late_plans} took the reference too long")
        if not self.differences:
            say("no differences")
        else:
            counts = Counter(difference.about for difference in self.differences)
            listed = ", ".join(f"{about}: {count}" for about, count in counts.items())
            say(f"DIFFERENCES: {listed}")
        if self.differences:
            return 1
        return 2 if self.broken or self.refused or not self.games else 0


if __name__ == "__main__":
    sys.exit(main())
