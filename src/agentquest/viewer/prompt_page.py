"""The prompt of a step exactly as it was sent; what the step before did not send is marked."""

import difflib
from collections.abc import Iterator, Sequence
from itertools import takewhile

import htpy as h
from markupsafe import Markup

from agentquest.lib.markup import Template
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.layout import pre, up_link

# Longer changes are marked as a whole, because comparing them line by line is slow.
_COMPARED_LINES = 400
_MARK = Template("<mark>%s</mark>")


def prompts_page(
    site: Addresses, run: str, record: EpisodeRecord, steps: Sequence[Step]
) -> Iterator[h.Node]:
    """The prompts of some steps of an episode."""
    back = site.episode(run, record.key, steps[0].index if len(steps) == 1 else None)
    yield up_link(back, record.goal or record.key)
    yield h.h1["Prompts as sent"]
    yield h.p(".note")["Text that is new since the previous step is marked."]
    for step in steps:
        yield h.section(id=f"prompt-{step.index}")[h.h2[f"Step {step.index}"], prompt(record, step)]


def prompt_size(record: EpisodeRecord, step: Step) -> tuple[int, int]:
    """Messages and characters of a step's prompt."""
    return len(step.prompt), sum(len(record.messages[place].content) for place in step.prompt)


def prompt(record: EpisodeRecord, step: Step) -> Iterator[h.Node]:
    """The messages of a step."""
    messages = record.prompt(step)
    before = record.prompt(record.steps[step.index - 2]) if step.index > 1 else []
    known = {message.content for message in before}
    for place, message in enumerate(messages):
        content = None
        if before and message.content not in known:
            earlier = before[place].content if place < len(before) else ""
            content = mark_new_lines(earlier, message.content)
        yield h.div(".message")[
            h.h5[message.role],
            pre(message.content, content=content),
            (pre(f"{call.name}({call.arguments})") for call in message.tool_calls),
        ]


def mark_new_lines(earlier: str, text: str) -> Markup:
    """The text, with the lines marked that `earlier` has not."""
    old, new = earlier.splitlines(), text.splitlines()
    start = _common_start(old, new)
    end = _common_start(old[start:][::-1], new[start:][::-1])
    old, middle = old[start : len(old) - end], new[start : len(new) - end]
    parts: list[str] = ["\n".join(new[:start])] if start else []
    parts += _changes(old, middle)
    parts += ["\n".join(new[len(new) - end :])] if end else []
    return Markup("\n").join(parts)


def _common_start(old: list[str], new: list[str]) -> int:
    """With how many equal lines both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _changes(old: list[str], new: list[str]) -> Iterator[str]:
    if not new:
        return
    if len(old) + len(new) > _COMPARED_LINES:
        yield _MARK("\n".join(new))
        return
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, _, _, start, end in matcher.get_opcodes():
        text = "\n".join(new[start:end])
        if kind in ("insert", "replace"):
            yield _MARK(text)
        elif kind == "equal":
            yield text
