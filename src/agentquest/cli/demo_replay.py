"""A short replay of one episode: each command, and how far the goal was after it."""

from collections.abc import Iterable, Iterator

from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.reports.safe_text import one_line
from agentquest.viewer.insight import Insight, insight
from agentquest.words import counted

_MOST_LINES = 12
_COMMAND = 44
_BESIDE = 31  # columns for what stands before and after a command


def shortest_win(records: Iterable[EpisodeRecord]) -> EpisodeRecord | None:
    """The solved episode with the fewest steps; None if none was solved."""
    won = [record for record in records if record.success]
    return min(won, key=lambda record: (len(record.steps), record.key), default=None)


def failure_worth_seeing(records: Iterable[EpisodeRecord]) -> EpisodeRecord | None:
    """The failure that came closest to its goal: there is a step at which it went wrong."""
    lost = [record for record in records if record.scored and not record.success]
    return max(
        lost,
        key=lambda record: (max((s.progress for s in record.steps), default=0.0), record.key),
        default=None,
    )


def replay(record: EpisodeRecord, manifest: Manifest, width: int) -> Iterator[str]:
    """The steps worth showing, one line each in Rich markup, and how many were left out between."""
    room = min(_COMMAND, max(_COMMAND // 3, width - _BESIDE))
    seen = insight(record, manifest)
    places = _worth_showing(record, seen)
    before = 0
    for place in places:
        if place > before + 1:
            yield f"[dim]… {counted(place - before - 1, 'step')}[/dim]"
        yield _line(record, seen, place, room)
        before = place
    if before < len(record.steps):
        left = counted(len(record.steps) - before, "step")
        yield f"[dim]… {left}, then: {record.end.value}[/dim]"


def _worth_showing(record: EpisodeRecord, seen: Insight) -> list[int]:
    """All steps of a short episode; of a long one those around the first harmful step."""
    count = len(record.steps)
    if count <= _MOST_LINES:
        return list(range(1, count + 1))
    middle = seen.first_harmful or count // 2
    first = max(1, min(middle - _MOST_LINES // 2, count - _MOST_LINES + 1))
    return list(range(first, first + _MOST_LINES))


def _line(record: EpisodeRecord, seen: Insight, place: int, room: int) -> str:
    step = record.steps[place - 1]
    action = one_line(step.action if step.action is not None else "(no action)")
    shown = action if len(action) <= room else f"{action[: room - 1]}…"
    marks = []
    if place < len(seen.distances):
        distance = seen.distances[place]
        marks.append("out of reach" if distance is None else f"{distance} to go")
    if place == seen.first_harmful:
        marks.append("[red]first step away[/red]")
    elif seen.repeated[place - 1]:
        marks.append("[dim]again[/dim]")
    escaped = shown.ljust(room).replace("[", "\\[")
    return f"{place:3} {escaped} {'  '.join(marks)}"
