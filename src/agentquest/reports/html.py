"""One HTML page that needs nothing else: no script, no network, no other file.

The page is written while the records are read: one episode with its prompts is
in memory at a time. Its policy forbids the browser to run or fetch anything,
whatever a model may have said.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from agentquest.records.episode import EpisodeRecord
from agentquest.records.run_directory import EPISODES, RunDirectory, read_episodes
from agentquest.reports.figures import build_report
from agentquest.reports.html_sections import episode_table, figures, opening, pictures
from agentquest.reports.html_trajectory import Prompts, trajectory
from agentquest.reports.safe_text import html_text

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def write_html_report(run: RunDirectory, file: Path) -> None:
    """Write the page of a run; readers of `file` see the old page or the whole new one."""
    manifest = run.manifest()
    records = run.records(slim=True)
    parts = page(records, manifest, _whole(run.path / EPISODES, records))
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=file.parent, prefix=f".{file.name}.", delete=False
    ) as draft:
        finished = Path(draft.name)
        try:
            draft.writelines(parts)
        except BaseException:
            finished.unlink()
            raise
    finished.chmod(0o644)
    finished.replace(file)


def page(
    records: Sequence[EpisodeRecord],
    manifest: Mapping[str, Any],
    whole: Iterator[EpisodeRecord],
) -> Iterator[str]:
    """The page in parts. `records` may be slim; `whole` gives the same ones with prompts."""
    report = build_report(records, manifest)
    style = files("agentquest.reports").joinpath("page.css").read_text(encoding="utf-8")
    yield (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<link rel="icon" href="data:,">'
        f"<title>{html_text(report.title)} · AgentQuest</title><style>{style}</style></head><body>"
        '<a class="skip" href="#episodes">Skip to the episodes</a><main>'
    )
    yield from opening(report, manifest)
    yield from figures(report)
    yield from pictures(report, records)
    shown = {column.key for column in report.columns}
    yield from episode_table(records, with_reward="reward" in shown)
    yield '<section aria-labelledby="trajectories"><h2 id="trajectories">Trajectories</h2>'
    yield (
        '<p class="note">Texts with a blue edge are what the agent said, those with a grey edge'
        " what it was told. Texts are whole; control characters are shown as escapes.</p>\n"
    )
    anchors = {record.key: f"e{position}" for position, record in enumerate(records, start=1)}
    prompts = Prompts()
    for record in whole:
        yield from trajectory(record, anchors[record.key], prompts)
    yield "</section></main></body></html>\n"


def _whole(file: Path, kept: Sequence[EpisodeRecord]) -> Iterator[EpisodeRecord]:
    """The records with their prompts, one at a time, of exactly the episodes in `kept`.

    An episode that was run again has several lines: the one that counts is the
    one that `kept` was made from.
    """
    waiting = {record.key: record for record in kept}
    for record in read_episodes(file):
        if record.key in waiting and record.slim() == waiting[record.key]:
            del waiting[record.key]
            yield record
