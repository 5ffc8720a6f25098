"""Playing one game in both engines and saying where they part.

A game is left at its first difference: what comes after it would only repeat it.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

from games import Case
from reference_client import ReferenceClient, Shown
from walks import WalkKind

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine


class Difference(NamedTuple):
    """What the engines disagree about, after which commands."""

    game: str
    about: str
    commands: tuple[str, ...]
    ours: str
    theirs: str

    def __str__(self) -> str:
        played = "".join(f"\n    > {command!r}" for command in self.commands) or " the start"
        return (
            f"{self.game}: {self.about} after{played}\n"
            f"  ours:   {self.ours}\n  theirs: {self.theirs}"
        )


class Outcome(NamedTuple):
    """How a game went: steps compared, whether it was won, what differed."""

    steps: int
    won: bool
    answered: int
    differences: tuple[Difference, ...]


def play_both(
    case: Case,
    engine: AlfWorldEngine,
    reference: ReferenceClient,
    walk: WalkKind,
    steps: int,
    dice: random.Random,
) -> Outcome:
    """`answered` counts the commands that did something, so that a dull walk shows."""
    played: list[str] = []
    won, answered = False, 0
    ours = Shown(engine.reset(), engine.admissible, engine.won)
    found = tuple(_differences(case, played, ours, reference.open(case.file)))
    commands = walk(engine, dice)
    while not found and len(played) < steps:
        command = next(commands)
        played.append(command)
        ours = Shown(engine.step(command), engine.admissible, engine.won)
        found = tuple(_differences(case, played, ours, reference.step(command)))
        won |= ours.won
        answered += ours.observation != "Nothing happens."
    return Outcome(len(played), won, answered, found)


def compare_plans(
    case: Case, engine: AlfWorldEngine, reference: ReferenceClient, timeout: float
) -> tuple[Difference, ...]:
    """Plan lengths at the start; the planner's own plan must also win here."""
    engine.reset()
    reference.open(case.file)
    theirs, _ = reference.plan(timeout)
    ours = engine.plan()
    if not ours.reachable and not theirs:
        return ()
    found = []
    if len(ours.commands) != len(theirs):
        found.append(("plan length", ours.commands, theirs))
    for command in theirs:
        engine.step(command)
    if not engine.won:
        found.append(("the reference's plan does not win in ours", ours.commands, theirs))
    engine.reset()
    return tuple(
        Difference(case.name, about, (), ", ".join(own), ", ".join(other))
        for about, own, other in found
    )


def _differences(case: Case, played: list[str], ours: Shown, theirs: Shown) -> Iterator[Difference]:
    commands = tuple(played)
    if ours.observation != theirs.observation:
        yield Difference(
            case.name, "observation", commands, repr(ours.observation), repr(theirs.observation)
        )
    if ours.admissible != theirs.admissible:
        more = [command for command in ours.admissible if command not in theirs.admissible]
        less = [command for command in theirs.admissible if command not in ours.admissible]
        yield Difference(
            case.name,
            "admissible commands" if more or less else "order of the admissible commands",
            commands,
            f"only ours: {more}" if more or less else repr(ours.admissible),
            f"only theirs: {less}" if more or less else repr(theirs.admissible),
        )
    if ours.won != theirs.won:
        yield Difference(case.name, "won", commands, str(ours.won), str(theirs.won))
