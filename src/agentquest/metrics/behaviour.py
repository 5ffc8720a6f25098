"""How an agent went about a game, judged from its executed commands alone.

Field names are those of the `behavior_metrics` of a game's result file. The score of a
game is 0 to 100: 40 for winning, 20 each for tidiness, no repetition and no cycles. If a
benchmark has nothing to open and close, tidiness is left out and the other parts make
up the 100: 50, 25, 25. The points for conduct are multiplied by the share of steps that
the environment carried out: an agent that does nothing earns no conduct points.

Scores are computed in exact fractions from the counts, so that a game exactly on a grade's
limit gets that grade.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from agentquest.records.episode import EpisodeRecord, attempted_command
from agentquest.records.manifest import Verbs

SHORTEST_CYCLE = 2
LONGEST_CYCLE = 5

COMPLETION_POINTS = 40
CLEANUP_POINTS = 20
REPETITION_POINTS = 20
CYCLE_POINTS = 20
MAX_SCORE = COMPLETION_POINTS + CLEANUP_POINTS + REPETITION_POINTS + CYCLE_POINTS
_MOST_DIGITS = 12
_GRADES = ((90, "A"), (80, "B"), (70, "C"), (60, "D"))


@dataclass(frozen=True)
class RepeatedSteps:
    """Runs of equal consecutive commands; all zero when nothing repeats."""

    repeated_count: int
    repeated_sequences: tuple[tuple[str, int], ...]
    repetition_rate: float
    max_repeat_length: int


@dataclass(frozen=True)
class Cleanup:
    """Opens and the closes that answer them.

    A game without opens leaves nothing open: rate 1.0, but `applicable` is False.
    `remaining_open_items` has one entry for each unanswered open, in order;
    `unclosed_items` names each such thing once, sorted.
    """

    total_opens: int
    correct_close_count: int
    remaining_open_count: int
    remaining_open_items: tuple[str, ...]
    cleanup_rate: float
    items_opened: tuple[str, ...]
    items_closed: tuple[str, ...]
    unclosed_items: tuple[str, ...]
    applicable: bool


@dataclass(frozen=True)
class Cycle:
    """`repetitions` consecutive copies of `pattern`, from `start_index` on."""

    pattern: tuple[str, ...]
    length: int
    repetitions: int
    start_index: int

    @property
    def steps(self) -> range:
        """The places of all commands that belong to it."""
        return range(self.start_index, self.start_index + self.length * self.repetitions)

    @property
    def first_copy(self) -> range:
        """The places of the first copy, which repeats nothing yet."""
        return range(self.start_index, self.start_index + self.length)


@dataclass(frozen=True)
class Cycles:
    """Every cycle of a game, one listed for each start; all zero in games of under four steps.

    `cycle_steps` are the commands in any cycle of any length, listed or not;
    `cycle_rate` is their share. `wasted_steps` are the commands in listed cycles
    that belong to no listed cycle's first copy.
    """

    cycles_detected: int
    cycle_patterns: tuple[Cycle, ...]
    cycle_rate: float
    wasted_steps: int
    cycle_steps: int


@dataclass(frozen=True)
class Exploration:
    """How many of the places walked to were new; reported, not scored. A game without walking
    has efficiency 1.0."""

    unique_locations_visited: int
    total_navigation_actions: int
    exploration_efficiency: float
    revisit_count: int


@dataclass(frozen=True)
class Breakdown:
    """The points of each part."""

    completion_score: float
    cleanup_score: float
    repetition_score: float
    cycle_score: float


@dataclass(frozen=True)
class Overall:
    """The score and its parts rounded to 2 decimals, and unrounded for means; the grade is of the
    unrounded score."""

    overall_score: float
    max_possible_score: float
    breakdown: Breakdown
    grade: str
    unrounded_score: float
    unrounded_breakdown: Breakdown


@dataclass(frozen=True)
class GameSummary:
    """A game in short. `executed_steps` are those that the environment carried out."""

    task_completed: bool
    total_steps: int
    executed_steps: int
    overall_score: float
    grade: str


@dataclass(frozen=True)
class Behaviour:
    """Everything that the behaviour metrics say of one game."""

    summary: GameSummary
    repeated_steps: RepeatedSteps
    cleanup: Cleanup
    cycles: Cycles
    exploration: Exploration
    overall: Overall
    action_history: tuple[str, ...]


def behaviour_of(record: EpisodeRecord, verbs: Verbs) -> Behaviour:
    """Judge one recorded game; `verbs` are those of its benchmark."""
    commands = record.commands
    executed = len(commands) - record.invalid_actions
    return assess_behaviour(map(attempted_command, commands), record.success, verbs, executed)


def assess_behaviour(
    commands: Iterable[str], won: bool, verbs: Verbs, executed: int | None = None
) -> Behaviour:
    """Judge one game by its commands, of which `executed` were carried out (None: all)."""
    actions = _normalise(commands)
    repetition = find_repeated_steps(actions)
    order = assess_cleanup(actions, verbs)
    loops = find_cycles(actions)
    executed = len(actions) if executed is None else executed
    none = Breakdown(0.0, 0.0, 0.0, 0.0)
    overall = Overall(0.0, float(MAX_SCORE), none, grade(0), 0.0, none)
    if executed:
        closed = Fraction(order.correct_close_count, order.total_opens) if order.applicable else 1
        done = Fraction(executed, len(actions))
        overall = _overall(
            Fraction(COMPLETION_POINTS * won),
            CLEANUP_POINTS * done * closed if verbs.open else None,
            REPETITION_POINTS * done * (1 - Fraction(repetition.repeated_count, len(actions))),
            CYCLE_POINTS * done * (1 - Fraction(loops.cycle_steps, len(actions))),
        )
    return Behaviour(
        summary=GameSummary(won, len(actions), executed, overall.overall_score, overall.grade),
        repeated_steps=repetition,
        cleanup=order,
        cycles=loops,
        exploration=measure_exploration(actions, verbs),
        overall=overall,
        action_history=actions,
    )


def find_repeated_steps(commands: Iterable[str]) -> RepeatedSteps:
    """Each run of r >= 2 equal commands holds r - 1 repetitions; the rate is over all commands."""
    actions = _normalise(commands)
    lengths = ((action, sum(1 for _ in run)) for action, run in groupby(actions))
    runs = tuple((action, length) for action, length in lengths if length >= 2)
    count = sum(length - 1 for _, length in runs)
    return RepeatedSteps(
        repeated_count=count,
        repeated_sequences=runs,
        repetition_rate=count / len(actions) if actions else 0.0,
        max_repeat_length=max((length for _, length in runs), default=0),
    )


def assess_cleanup(commands: Iterable[str], verbs: Verbs) -> Cleanup:
    """Opening a thing twice counts twice; closing what the agent did not open is ignored."""
    opened: list[str] = []
    closed: list[str] = []
    still_open: list[str] = []
    for action in _normalise(commands):
        if (item := _argument(action, verbs.open)) is not None:
            opened.append(item)
            still_open.append(item)
        elif (item := _argument(action, verbs.close)) is not None and item in still_open:
            still_open.remove(item)
            closed.append(item)
    return Cleanup(
        total_opens=len(opened),
        correct_close_count=len(closed),
        remaining_open_count=len(still_open),
        remaining_open_items=tuple(still_open),
        cleanup_rate=len(closed) / len(opened) if opened else 1.0,
        items_opened=tuple(opened),
        items_closed=tuple(closed),
        unclosed_items=tuple(sorted(set(still_open))),
        applicable=bool(opened),
    )


def find_cycles(commands: Iterable[str]) -> Cycles:
    """Look for each pattern length on its own; a partial copy at the end does not count."""
    actions = _normalise(commands)
    lengths = range(SHORTEST_CYCLE, LONGEST_CYCLE + 1)
    found = [cycle for length in lengths for cycle in _cycles_of_length(actions, length)]
    listed: dict[int, Cycle] = {}
    for cycle in found:
        # Shorter lengths come first, so the shortest cycle of a start is the one kept.
        listed.setdefault(cycle.start_index, cycle)
    marked = {step for cycle in found for step in cycle.steps}
    repeated = {step for cycle in listed.values() for step in cycle.steps}
    needed = {step for cycle in listed.values() for step in cycle.first_copy}
    return Cycles(
        cycles_detected=len(listed),
        cycle_patterns=tuple(listed.values()),
        cycle_rate=len(marked) / len(actions) if actions else 0.0,
        wasted_steps=len(repeated - needed),
        cycle_steps=len(marked),
    )


def measure_exploration(commands: Iterable[str], verbs: Verbs) -> Exploration:
    """Count the places that the commands for walking name."""
    places = [p for a in _normalise(commands) if (p := _argument(a, verbs.walk)) is not None]
    unique = len(set(places))
    return Exploration(
        unique_locations_visited=unique,
        total_navigation_actions=len(places),
        exploration_efficiency=unique / len(places) if places else 1.0,
        revisit_count=len(places) - unique,
    )


def grade(score: float | Fraction) -> str:
    """The letter of an unrounded score."""
    return next((letter for limit, letter in _GRADES if score >= limit), "F")


def round_graded(
    score: float | Fraction, digits: int = 2, label: Callable[[float], str] = grade
) -> tuple[float, int]:
    """The score rounded to so many decimals, or to more where it would seem to have earned another
    grade; and to how many."""
    exact = float(score)
    while digits < _MOST_DIGITS and label(round(exact, digits)) != label(exact):
        digits += 1
    return round(exact, digits), digits


def _overall(
    completion: Fraction, cleanup: Fraction | None, repetition: Fraction, cycles: Fraction
) -> Overall:
    attainable = MAX_SCORE - (CLEANUP_POINTS if cleanup is None else 0)
    scale = Fraction(MAX_SCORE, attainable)
    parts = [part * scale for part in (completion, cleanup or Fraction(0), repetition, cycles)]
    total = sum(parts, Fraction(0))
    return Overall(
        overall_score=round_graded(total)[0],
        max_possible_score=float(MAX_SCORE),
        breakdown=Breakdown(*(float(round(part, 2)) for part in parts)),
        grade=grade(total),
        unrounded_score=float(total),
        unrounded_breakdown=Breakdown(*map(float, parts)),
    )


def _cycles_of_length(actions: tuple[str, ...], length: int) -> list[Cycle]:
    found = []
    start = 0
    while start <= len(actions) - 2 * length:
        pattern = actions[start : start + length]
        end = start + length
        while actions[end : end + length] == pattern:
            end += length
        copies = (end - start) // length
        if copies >= 2:
            found.append(Cycle(pattern, length, copies, start))
            start = end
        else:
            start += 1
    return found


def _normalise(commands: Iterable[str]) -> tuple[str, ...]:
    """Lower-cased and stripped: commands that differ only in case or margins are equal."""
    return tuple(command.strip().lower() for command in commands)


def _argument(command: str, verb: str) -> str | None:
    """What follows the verb in a normalised command: `open fridge 1` gives `fridge 1`."""
    start = verb.split()
    if not start or not command.startswith(start[0]):
        return None
    words = command.split(maxsplit=len(start))
    if len(words) <= len(start) or words[: len(start)] != start:
        return None
    return words[len(start)]
