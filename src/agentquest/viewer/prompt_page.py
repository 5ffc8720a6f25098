"""The prompt of a step exactly as it was sent; what the step before did not send is marked."""

import difflib
from collections.abc import Iterator, Sequence
from itertools import takewhile

from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.messages import Message
from agentquest.reports.safe_text import html_text
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.layout import link, pre

# Longer changes are marked as a whole: finding what is alike in them takes its time.
_COMPARED_LINES = 400


def prompts_page(
    site: Addresses, run: str, record: EpisodeRecord, steps: Sequence[Step]
) -> Iterator[str]:
    """The prompts of some steps of an episode."""
    back = site.episode(run, record.key, steps[0].index if len(steps) == 1 else None)
    yield f'<p class="up">{link(back, record.goal or record.key)}</p><h1>Prompts as sent</h1>'
    yield '<p class="note">Text that is new since the previous step is marked.</p>'
    for step in steps:
        yield f'<section id="prompt-{step.index}"><h2>Step {step.index}</h2>'
        yield f"{prompt(record, step)}</section>"


def prompt_size(record: EpisodeRecord, step: Step) -> tuple[int, int]:
    """Messages and characters of a step's prompt."""
    return len(step.prompt), sum(len(record.messages[place].content) for place in step.prompt)


def prompt(record: EpisodeRecord, step: Step) -> str:
    """The messages of a step."""
    messages = record.prompt(step)
    before = record.prompt(record.steps[step.index - 2]) if step.index > 1 else []
    known = {message.content for message in before}
    parts = []
    for place, message in enumerate(messages):
        earlier = before[place].content if place < len(before) else ""
        told = _message(message, earlier, known, bool(before))
        calls = "".join(pre(f"{call.name}({call.arguments})") for call in message.tool_calls)
        parts.append(f'<div class="message"><h5>{html_text(message.role)}</h5>{told}{calls}</div>')
    return "".join(parts)


def _message(message: Message, earlier: str, known: set[str], compared: bool) -> str:
    if not compared or message.content in known:
        return pre(message.content)
    return pre(message.content, content=marked(earlier, message.content))


def marked(earlier: str, text: str) -> str:
    """The text as HTML, with the lines marked that `earlier` has not."""
    old, new = earlier.splitlines(), text.splitlines()
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    old, middle = old[start : len(old) - end], new[start : len(new) - end]
    lines = [html_text("\n".join(new[:start]))] if start else []
    lines += _changes(old, middle)
    lines += [html_text("\n".join(new[len(new) - end :]))] if end else []
    return "\n".join(lines)


def _alike(old: list[str], new: list[str]) -> int:
    """With how many equal lines both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _changes(old: list[str], new: list[str]) -> Iterator[str]:
    if not new:
        return
    if len(old) + len(new) > _COMPARED_LINES:
        yield f"<mark>{html_text(chr(10).join(new))}</mark>"
        return
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, _, _, start, end in matcher.get_opcodes():
        text = html_text("\n".join(new[start:end]))
        if kind in ("insert", "replace"):
            yield f"<mark>{text}</mark>"
        elif kind == "equal":
            yield text
