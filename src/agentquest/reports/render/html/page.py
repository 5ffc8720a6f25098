"""One HTML page that needs nothing else: no script, no network, no other file.

The page is written while the records are read: one episode with its prompts is
in memory at a time. Its policy forbids the browser to run or fetch anything,
whatever a model may have said.
"""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from agentquest.metrics.measured import table_of
from agentquest.metrics.rows import row_of
from agentquest.metrics.table import Metric
from agentquest.records.episode import EpisodeRecord
from agentquest.records.episode_lines import read_at
from agentquest.records.run_directory import EPISODES, RunDirectory, describe_damage, keep_newest
from agentquest.reports.model import Report, build_report
from agentquest.reports.render.html.episodes import Sketch, episode_table
from agentquest.reports.render.html.sections import figures, opening, pictures
from agentquest.reports.render.html.trajectory import Prompts, trajectory
from agentquest.reports.safe_text import html_text

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def write_html_report(run: RunDirectory, file: Path) -> None:
    """Write the page of a run; readers of `file` see the old page or the whole new one."""
    manifest = run.manifest()
    table = table_of(run, manifest)
    reader, episodes = run.reader(), run.path / EPISODES
    sketches = sketched(reader.located(), table)
    report = build_report(
        manifest,
        [sketch.row for sketch in sketches],
        table,
        describe_damage(episodes, reader.damaged),
    )
    whole = (read_at(episodes, sketch.place) for sketch in sketches)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=file.parent, prefix=f".{file.name}.", delete=False
    ) as draft:
        finished = Path(draft.name)
        try:
            draft.writelines(page(report, sketches, whole))
        except BaseException:
            finished.unlink()
            raise
    finished.chmod(0o644)
    finished.replace(file)


def sketched(tries: Iterable[tuple[int, EpisodeRecord]], table: Sequence[Metric]) -> list[Sketch]:
    """What the page shows of each episode outside its trajectory."""
    newest: dict[str, Sketch] = {}
    for place, record in tries:
        curve = (0.0, *(step.progress for step in record.steps))
        keep_newest(newest, Sketch(place, row_of(record, table), record.goal, curve))
    return list(newest.values())


def page(
    report: Report, sketches: Sequence[Sketch], whole: Iterable[EpisodeRecord]
) -> Iterator[str]:
    """The page in parts; `whole` gives the records of the sketches, in their order."""
    style = files("agentquest.reports.render.html").joinpath("page.css").read_text("utf-8")
    yield (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<link rel="icon" href="data:,">'
        f"<title>{html_text(report.manifest.run_id)} · AgentQuest</title>"
        f"<style>{style}</style></head>"
        '<body><a class="skip" href="#episodes">Skip to the episodes</a><main>'
    )
    yield from opening(report)
    yield from figures(report)
    yield from pictures(report, sketches)
    yield from episode_table(report, sketches)
    yield '<section aria-labelledby="trajectories"><h2 id="trajectories">Trajectories</h2>'
    yield (
        '<p class="note">Texts with a blue edge are what the agent said, those with a grey edge'
        " what it was told. Texts are whole; control characters are shown as escapes.</p>\n"
    )
    prompts = Prompts()
    for number, record in enumerate(whole, start=1):
        yield from trajectory(record, f"e{number}", prompts)
    yield "</section></main></body></html>\n"
