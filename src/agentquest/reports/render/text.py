"""A report as plain text, for the terminal or to paste into a document."""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agentquest.metrics.report import Report, Table, cost_text, describe_model, tokens_text
from agentquest.safe_text import markdown_text, one_line
from agentquest.words import counted

WIDTH = 80
_SHORTEST_NAME = 12
_SIDE_BY_SIDE = 60
# Metrics that are left to the whole report.
_DETAILS = frozenset({"steps_of_successes", "repetition"})


def text_report(report: Report, width: int = WIDTH) -> str:
    """The report in lines of at most `width` characters, where its tables allow it."""
    parts = [
        *_head(report, report.warnings, width),
        pairs(report.facts, width),
    ]
    if report.published:
        lines = (wrap_text(f"  {one_line(line)}", width, "    ") for line in report.published)
        parts.append("Published scores for this protocol\n" + "\n".join(lines))
    for table in report.tables:
        body = pairs(table.rows, width) if len(table.headings) == 2 else text_table(table, width)
        parts.append(f"{table.title}\n{body}")
    parts.append("\n".join(wrap_text(note, width) for note in report.notes))
    return "\n\n".join(parts) + "\n"


def text_summary(report: Report, width: int) -> str:
    """The lines of a report that matter most, with the run's own metrics; the advice is left to
    the command that prints them."""
    manifest, overall, spent = report.manifest, report.overall, report.summary.spent
    origin = manifest.provenance
    who = f"agent {manifest.agent}" + (
        f", model {describe_model(manifest)}" if manifest.model else ""
    )
    played = (
        f"{manifest.benchmark_title or manifest.benchmark} {origin.split} ({origin.data} data), "
        f"{counted(len(manifest.task_ids), 'task')}, {who}"
    )
    lines = [("played", played)]
    for metric in report.shown:
        if metric.key not in _DETAILS and overall.cells[metric.key].estimate is not None:
            lines.append((metric.heading, overall.cells[metric.key].text))
    ends = (f"{number} × {meaning}" for number, meaning in report.ends.values())
    lines.append(("ends", ", ".join(ends) or "no episode was played"))
    if spent.calls > min(spent.uncounted_calls, spent.unpriced_calls):
        tokens = tokens_text(spent, spent.prompt_tokens + spent.completion_tokens)
        calls = counted(spent.calls, "model call")
        lines.append(("spent", f"{calls}, tokens {tokens}, cost {cost_text(spent)}"))
    warnings = [one for one in report.warnings if one != report.advice]
    return "\n".join([*_head(report, warnings, width), pairs(lines, width)])


def _head(report: Report, warnings: Iterable[str], width: int) -> list[str]:
    return [
        wrap_text(f"AgentQuest report: {one_line(report.manifest.run_id)}", width),
        *(wrap_text(f"!!! {one_line(warning)}", width, "    ") for warning in warnings),
    ]


def markdown_report(report: Report) -> str:
    """The report as Markdown; what came from data or models is escaped."""
    parts = [f"# AgentQuest report: {markdown_text(report.manifest.run_id)}"]
    parts += [f"> **Warning:** {markdown_text(warning)}" for warning in report.warnings]
    parts.append(markdown_table(Table("Run", ("run", ""), report.facts, numbers=False)))
    for table in report.tables:
        parts += [f"## {table.title}", markdown_table(table)]
    if report.published:
        listed = "\n".join(f"- {markdown_text(line)}" for line in report.published)
        parts += ["## Published scores for this protocol", listed]
    parts.append("\n".join(f"- {markdown_text(note)}" for note in report.notes))
    return "\n\n".join(parts) + "\n"


def keep_columns(table: Table, width: int, least_wanted: Iterable[str]) -> tuple[Table, list[str]]:
    """The table without the columns that do not fit beside each other, and what these are."""
    kept, left_out = list(table.headings), []

    def is_too_wide() -> bool:
        chosen = [table.headings.index(name) for name in kept[1:]]
        each = (max(len(one_line(row[place])) for row in rows) for place in chosen)
        return 2 + shortest + sum(2 + wide for wide in each) > width

    rows = (table.headings, *table.rows)
    shortest = min(_SHORTEST_NAME, max(len(one_line(row[0])) for row in rows))
    for name in least_wanted:
        if name in kept and is_too_wide():
            kept.remove(name)
            left_out.append(name)
    places = [table.headings.index(name) for name in kept]
    cells = tuple(tuple(row[place] for place in places) for row in table.rows)
    return replace(table, headings=tuple(kept), rows=cells), left_out


def text_table(table: Table, width: int) -> str:
    """The rows under their headings; columns that do not fit stand in a further block below."""
    rows = [tuple(map(one_line, row)) for row in (table.headings, *table.rows)]
    columns = list(zip(*rows, strict=True))
    widest = max((len(cell) for column in columns[1:] for cell in column), default=0)
    together = sum(2 + max(map(len, column)) for column in columns[1:])
    room = width - 2 - together
    if room < min(_SHORTEST_NAME, max(map(len, columns[0]))):  # not all fit beside each other
        room = max(_SHORTEST_NAME, width - widest - 4)
    names = shorten_names(columns[0], room)
    room = width - 2 - len(names[0])
    blocks: list[list[list[str]]] = []
    left = 0
    for column in columns[1:]:
        each = max(map(len, column))
        if not blocks or each + 2 > left:
            blocks.append([names])
            left = room
        left -= each + 2
        flush = str.rjust if table.numbers else str.ljust
        blocks[-1].append([flush(cell, each) for cell in column])
    return "\n\n".join("\n".join(_lines(block)) for block in blocks)


def markdown_table(table: Table) -> str:
    """Where the cells are numbers, all columns but the first stand to the right."""
    rule = ["---", *("---:" if table.numbers else "---" for _ in table.headings[1:])]
    lines = [
        _markdown_line(table.headings),
        f"| {' | '.join(rule)} |",
        *map(_markdown_line, table.rows),
    ]
    return "\n".join(lines)


def pairs(rows: Iterable[Sequence[str]], width: int) -> str:
    """Names to the left, values beside them, or below them where there is little room."""
    known = [(one_line(name), one_line(value)) for name, value in rows]
    longest = max((len(name) for name, _ in known), default=0)
    if width < _SIDE_BY_SIDE:
        return "\n".join(wrap_text(f"  {name}: {value}", width, "    ") for name, value in known)
    indent = " " * (longest + 4)
    return "\n".join(
        wrap_text(f"  {name.ljust(longest)}  {value}", width, indent) for name, value in known
    )


def wrap_text(text: str, width: int, indent: str = "") -> str:
    """The text in lines of at most `width` characters; its own spaces stay."""
    if len(text) <= width:
        return text.rstrip()
    return "\n".join(
        textwrap.wrap(
            text,
            width,
            subsequent_indent=indent,
            break_on_hyphens=False,
            drop_whitespace=True,
            replace_whitespace=False,
        )
    )


def _markdown_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(markdown_text(cell) for cell in cells)} |"


def _lines(block: Sequence[Sequence[str]]) -> Iterable[str]:
    for cells in zip(*block, strict=True):
        yield f"  {'  '.join(cells)}".rstrip()


def shorten_names(names: Sequence[str], most: int) -> list[str]:
    """Names of one width; a long one loses its middle, or as much before it as keeps them apart."""
    each = min(max(map(len, names)), most)
    shown: list[str] = []
    for end in range(each // 2, max(each, 1)):
        cut = [n if len(n) <= each else f"{n[: each - end - 1]}…{n[-end:]}" for n in names]
        if len({*cut}) > len({*shown}):
            shown = cut
        if len({*shown}) == len({*names}):
            break
    return [name.ljust(each) for name in shown]
