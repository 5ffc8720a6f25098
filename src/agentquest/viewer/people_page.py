"""People's scores next to agents', on the tasks that people played."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import htpy as h

from agentquest.errors import AgentQuestError
from agentquest.lib.markup import Piece
from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.summary import headline_figures, mean_of_known
from agentquest.store.library import Library, RunSummary
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.layout import badge, interval, link, number, table
from agentquest.viewer.runs_page import success_of

_PERSON = "human"
_HELP = ("hints", "undone", "restarts")
_PLAYED_ON = "played on from"
_HEADINGS = (
    "player", "model", "success", "#progress", "#steps", "#seconds", "#scored", "#left", "run",
)  # fmt: skip
Setting = tuple[str, str, str]


def people_page(site: Addresses, library: Library, query: Mapping[str, str]) -> Iterator[h.Node]:
    """A table for each benchmark, split and data that somebody has played."""
    yield h.h1["People"]
    groups: dict[Setting, list[RunSummary]] = {}
    for one in library.summaries():
        if isinstance(one, RunSummary):
            groups.setdefault(_setting(one), []).append(one)
    groups = {
        setting: members
        for setting, members in sorted(groups.items())
        if any(_is_person(one) and one.figures.episodes for one in members)
    }
    if not groups:
        play = site.served and [" ", link(site.page("play"), "Play a game"), "."]
        yield h.p["Nobody has played here yet.", play]
        return
    yield h.p(".note")[
        "Agents are measured over the tasks that people played, and only those."
        " Games with hints or undone steps, and games that an agent started, are listed"
        " separately; unfinished games have no score."
    ]
    for (title, split, data), members in groups.items():
        yield h.h2[f"{title} ", h.small[f"{split}, {data} data"]]
        rows = _rows(site, library, members)
        yield table(_HEADINGS, rows, "people", f"People and agents: {title}")


def _setting(one: RunSummary) -> Setting:
    manifest = one.manifest
    where = manifest.provenance
    return manifest.benchmark_title or manifest.benchmark, where.split, where.data


def _is_person(one: RunSummary) -> bool:
    """An agent elsewhere may call itself what it likes."""
    return one.manifest.agent == _PERSON and one.manifest.assessed is None


def _rows(
    site: Addresses, library: Library, members: Sequence[RunSummary]
) -> Iterator[Sequence[Piece]]:
    tasks: set[tuple[str, str]] = set()
    for one in members:
        if _is_person(one):
            rows = _read_rows(library, one.name)
            tasks |= {(row.task_id, row.data_hash) for row in rows}
            for name, part in _parts(rows).items():
                yield _row(site, badge("complete", name), one, part)
    for one in sorted(members, key=success_of, reverse=True):
        if not _is_person(one):
            rows = _read_rows(library, one.name)
            same = [row for row in rows if (row.task_id, row.data_hash) in tasks]
            if same:
                yield _row(site, one.manifest.agent, one, same)


def _read_rows(library: Library, name: str) -> Sequence[EpisodeRow]:
    """Empty if they cannot be read: the list of runs says so."""
    try:
        return library.run(name).rows
    except (AgentQuestError, OSError):
        return ()


def _parts(rows: Iterable[EpisodeRow]) -> dict[str, list[EpisodeRow]]:
    """People alone, with help, and those who went on from an agent's step."""
    parts: dict[str, list[EpisodeRow]] = {}
    for one in rows:
        facts = dict(one.setting.facts)
        if _PLAYED_ON in facts:
            name = "people, played on"
        elif any(name in facts for name in _HELP):
            name = "people, with help"
        else:
            name = "people"
        parts.setdefault(name, []).append(one)
    return dict(sorted(parts.items()))


def _row(
    site: Addresses, player: Piece, one: RunSummary, rows: Sequence[EpisodeRow]
) -> Sequence[Piece]:
    figures = headline_figures(rows)
    seconds = mean_of_known(row.seconds for row in rows if row.scored)
    return (
        player,
        one.manifest.model or "–",
        interval(figures.success),
        number(figures.progress, 2),
        number(figures.steps, 1),
        number(seconds, 1),
        str(figures.scored),
        str(figures.episodes - figures.scored),
        link(site.run(one.name), one.name),
    )
