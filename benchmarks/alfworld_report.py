"""What was measured of ALFWorld, and the table that says it."""

from collections.abc import Sequence
from typing import NamedTuple

from measuring import Row, duration, quantile, table, times

LIVE_IN_REFERENCE = 8
_MEGABYTE = 1_000_000

# Of alfworld 0.4.2 with textworld 1.7.0, on two shared cores. Shown where it is not installed.
_NOTED = {
    "open p50": "2.3 s",
    "step p50": "0.10 s",
    "step p95": "0.26 s",
    "steps/s": "10",
    "plan p50": "2.4 s … 15 s",
    "plan max": "156 s",
    "walk plan max": "62 s",
    "memory": "7,200 MB",
}


class PlanTime(NamedTuple):
    ours: float
    theirs: float
    finished: bool


class Samples:
    """All times measured, in seconds."""

    def __init__(self) -> None:
        kinds = ("open", "open again", "step", "plan", "plan again", "walk plan")
        self.ours: dict[str, list[float]] = {kind: [] for kind in kinds}
        self.theirs: dict[str, list[float]] = {"open": [], "step": []}
        self.plans: dict[str, list[PlanTime]] = {"plan": [], "walk plan": []}


def report(
    samples: Samples,
    speed: float,
    ours_live: int,
    theirs_live: float | None,
    live: int,
    plan_seconds: float,
) -> str:
    measured = bool(samples.theirs["open"])
    heads = Row("", "AgentQuest", "reference" if measured else "reference (noted)", "faster")
    rows = [
        _timed("open a game, first time, p50", samples, "open", 0.5, "open p50"),
        _timed("open a game, first time, p95", samples, "open", 0.95, ""),
        _again("open it again beside the first, p50", samples, "open again"),
        _timed("step with admissible commands, p50", samples, "step", 0.5, "step p50"),
        _timed("step with admissible commands, p95", samples, "step", 0.95, "step p95"),
        _speed(samples, speed),
    ]
    rows += _planned("oracle plan at the start, first time", samples, "plan")
    rows.append(_again("the same plan again, p50", samples, "plan again"))
    rows += _planned("oracle plan along a walk, first time", samples, "walk plan")
    rows.append(_memory(ours_live, theirs_live, live))
    notes = [
        f"Samples: open {len(samples.ours['open'])} and {len(samples.theirs['open'])}, "
        f"step {len(samples.ours['step'])} and {len(samples.theirs['step'])}, "
        f"plan {len(samples.ours['plan'])} and {len(samples.plans['plan'])}, "
        f"along a walk {len(samples.ours['walk plan'])} and {len(samples.plans['walk plan'])} "
        "(ours and the reference's). All times are processor time.",
        f"> : the reference did not finish a plan in {plan_seconds:g} s by the clock."
        if measured
        else "The reference is not installed here: its column shows figures noted elsewhere, on "
        "other games, with no ratio. `make conformance` installs it.",
    ]
    return "\n".join([table(heads, rows), *notes])


def _timed(what: str, samples: Samples, key: str, share: float, noted: str) -> Row:
    ours = quantile(samples.ours[key], share)
    if not samples.theirs[key]:
        return Row(what, duration(ours), _NOTED.get(noted, ""))
    theirs = quantile(samples.theirs[key], share)
    return Row(what, duration(ours), duration(theirs), times(theirs, ours))


def _again(what: str, samples: Samples, key: str) -> Row:
    """What is kept from the first time; it is no figure to compare with anybody's first time."""
    return Row(what, duration(quantile(samples.ours[key], 0.5)))


def _speed(samples: Samples, speed: float) -> Row:
    what = "steps per second, one core"
    steps = samples.theirs["step"]
    if not steps:
        return Row(what, f"{speed:,.0f}", _NOTED["steps/s"])
    theirs = len(steps) / sum(steps)
    return Row(what, f"{speed:,.0f}", f"{theirs:,.1f}", times(speed, theirs))


def _planned(what: str, samples: Samples, key: str) -> list[Row]:
    """The same states in both for the ratios; all of ours in a line of their own."""
    every = samples.ours[key]
    rows = [
        Row(f"{what}, p50", duration(quantile(every, 0.5)), _NOTED.get(f"{key} p50", "")),
        Row(f"{what}, max", duration(max(every)), _NOTED.get(f"{key} max", "")),
    ]
    pairs = samples.plans[key]
    if pairs:
        same = f"{what}, same {len(pairs)} states"
        rows = [_pair(f"{same}, p50", pairs, 0.5), _pair(f"{same}, max", pairs, 1.0)]
        rows.append(Row(f"{what}, all {len(every)} samples, max", duration(max(every))))
    return rows


def _pair(what: str, pairs: Sequence[PlanTime], share: float) -> Row:
    ours = quantile([pair.ours for pair in pairs], share)
    theirs = quantile([pair.theirs for pair in pairs], share)
    cut = any(not pair.finished and pair.theirs <= theirs for pair in pairs)
    shown = f"{'> ' if cut else ''}{duration(theirs)}"
    return Row(what, duration(ours), shown, times(theirs, ours, cut))


def _memory(ours: int, theirs: float | None, live: int) -> Row:
    what = f"memory of {live:,} live games"
    mine = f"{ours / _MEGABYTE:,.0f} MB"
    if theirs is None:
        return Row(what, mine, _NOTED["memory"] if live == 1000 else "")
    scaled = theirs * live
    shown = f"{scaled / _MEGABYTE:,.0f} MB (scaled from {LIVE_IN_REFERENCE})"
    return Row(what, mine, shown, f"{scaled / ours:,.0f}× less")
