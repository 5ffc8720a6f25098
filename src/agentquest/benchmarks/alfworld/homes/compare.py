"""How the built-in homes compare with the published games: distributions, side by side.

It reads problem texts alone, so any two sets of games can be compared. Plan lengths need a
planner, which the caller passes in.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from agentquest.benchmarks.alfworld.engine.pddl import Node, Problem, read_problem
from agentquest.errors import DataError

Distributions = Mapping[str, Sequence[int]]

PERCENTS = (0, 10, 25, 50, 75, 90, 100)


def distributions(
    problems: Iterable[str], plan_length: Callable[[str], int] | None = None
) -> dict[str, list[int]]:
    """Each measure's values, one per problem, in the order of the problems."""
    measured: dict[str, list[int]] = {}
    for text in problems:
        values = _measures(read_problem(text))
        if plan_length is not None:
            values["plan length"] = plan_length(text)
        for name, value in values.items():
            measured.setdefault(name, []).append(value)
    return measured


def quantile(values: Sequence[int], percent: int) -> int:
    """The smallest value that at least this share of the values do not exceed."""
    if not values:
        raise DataError("there are no values to take a quantile of")
    rank = -(-percent * len(values) // 100)
    return sorted(values)[max(rank, 1) - 1]


def side_by_side(built_in: Distributions, real: Distributions) -> str:
    """A table of quantiles: for every measure that both have, one line each."""
    heads = ("least", "10%", "25%", "median", "75%", "90%", "most", "mean")
    lines = [f"{'':22}{'':10}" + "".join(f"{head:>8}" for head in heads)]
    for name in built_in:
        if name in real:
            lines.append(_row(name, "built-in", built_in[name]))
            lines.append(_row("", "real", real[name]))
    return "\n".join(lines) + "\n"


def _row(name: str, source: str, values: Sequence[int]) -> str:
    cells = "".join(f"{quantile(values, percent):>8}" for percent in PERCENTS)
    return f"{name:22}{source:10}{cells}{sum(values) / len(values):>8.1f}"


def _measures(problem: Problem) -> dict[str, int]:
    things = [n for n, kind in problem.kinds.items() if kind == "object" and "_bar_" in n]
    receptacles = [n for n, kind in problem.kinds.items() if kind == "receptacle"]
    spots: dict[str, int] = {}
    for fact in problem.facts:
        if fact[0] == "receptacleatlocation":
            spots[fact[2]] = spots.get(fact[2], 0) + 1
    thing, target = _goal_types(problem.goal)
    types = [fact[2] for fact in problem.facts if fact[0] in ("objecttype", "receptacletype")]
    return {
        "receptacles": len(receptacles),
        "openable": sum(fact[0] == "openable" for fact in problem.facts),
        "sharing a spot": sum(count for count in spots.values() if count > 1),
        "objects": len(things),
        "target objects": types.count(thing),
        "target receptacles": types.count(target),
    }


def _goal_types(goal: Node) -> tuple[str, str]:
    """The type a goal is about, and the receptacle or lamp type it asks for."""
    atoms = list(_atoms(goal))
    lamps = {atom[1] for atom in atoms if atom[0] == "istoggled"}
    things = [atom[2] for atom in atoms if atom[0] == "objecttype" and atom[1] not in lamps]
    targets = [atom[2] for atom in atoms if atom[0] == "receptacletype"]
    targets += [atom[2] for atom in atoms if atom[0] == "objecttype" and atom[1] in lamps]
    if not things or not targets:
        raise DataError("the goal names no object type or no receptacle or lamp type")
    return things[0], targets[0]


def _atoms(node: Node) -> Iterable[tuple[str, ...]]:
    if isinstance(node, str):
        return
    words = tuple(part for part in node if isinstance(part, str))
    if len(words) == len(node) and len(words) > 1:
        yield words
    for part in node:
        yield from _atoms(part)
