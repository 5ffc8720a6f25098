"""One episode, step by step: what was asked, said, read, done and seen, and the way to the goal."""

import difflib
from collections.abc import Iterator, Sequence

from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.messages import Message
from agentquest.records.outcome import MEANINGS
from agentquest.reports.render.html.episodes import outcome
from agentquest.reports.render.html.trajectory import fold
from agentquest.reports.safe_text import html_text
from agentquest.viewer.home_map import home_map
from agentquest.viewer.insight import Insight
from agentquest.viewer.layout import alert, badge, episode_address, link, run_address
from agentquest.viewer.progress_chart import progress_chart

_PLAN_SHOWN = 12


def episode_page(run: str, record: EpisodeRecord, seen: Insight, step: int) -> Iterator[str]:
    """The page of an episode, with `step` marked as the one to show first."""
    kind = outcome(record.scored, record.success)
    yield f'<p class="up">{link(run_address(run), run)}</p>'
    yield f"<h1>{html_text(record.goal)}</h1>"
    yield _facts(record, kind)
    if record.error is not None:
        error = record.error
        yield alert(f"{error.source}, {error.kind}: {error.message}")
    yield progress_chart(run, record, seen)
    yield _findings(run, record, seen)
    yield (
        '<p class="note keys">← → or j k: step by step · space: play · Home, End: first, last</p>'
        f'<div class="replay" data-steps="{len(record.steps)}" data-step="{step}">'
    )
    yield _opening(record, seen)
    for one in record.steps:
        yield _step(record, one, seen)
    yield "</div>"


def _facts(record: EpisodeRecord, kind: str) -> str:
    spent = [call.usage for call in record.calls if call.usage is not None]
    tokens = sum(usage.prompt_tokens + usage.completion_tokens for usage in spent)
    pairs = [
        ("outcome", badge(kind, MEANINGS[record.end])),
        ("task", html_text(record.task_id)),
        ("type", html_text(record.task_type)),
        ("trial", str(record.trial + 1)),
        ("agent", html_text(record.agent)),
        ("model", html_text(record.model or "–")),
        ("steps", f"{len(record.steps)} of {record.max_steps}"),
        ("progress", f"{record.progress:.2f}"),
        ("reward", f"{record.reward:.2f}"),
        ("invalid", str(record.invalid_actions)),
        ("tokens", f"{tokens:,}" if spent else "–"),
        ("seconds", f"{record.seconds:.1f}"),
        *((html_text(name), html_text(value)) for name, value in record.facts.items()),
    ]
    body = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{body}</dl>'


def _findings(run: str, record: EpisodeRecord, seen: Insight) -> str:
    """The places worth a look, as links."""
    lines = []
    if seen.first_harmful is not None:
        lines.append((seen.first_harmful, "first step away from the goal"))
    if seen.lost_for_good is not None:
        lines.append((seen.lost_for_good, "the goal is out of reach from here on"))
    loop = next((place for place, looped in enumerate(seen.in_cycle, start=1) if looped), None)
    if loop is not None:
        lines.append((loop, "the agent goes round in circles"))
    unread = next((one.index for one in record.steps if one.action is None), None)
    if unread is not None:
        lines.append((unread, "first reply without an action"))
    if not lines:
        return ""
    listed = "".join(
        f"<li>{link(episode_address(run, record.key, place), f'step {place}')}: {text}</li>"
        for place, text in sorted(lines)
    )
    return f'<ul class="findings">{listed}</ul>'


def _opening(record: EpisodeRecord, seen: Insight) -> str:
    return (
        '<section class="step" id="step-0"><h2>Start</h2><div class="columns"><div>'
        f'<pre class="told">{html_text(record.first_observation)}</pre>'
        f"{_admissible(record.first_admissible)}</div>{_beside(record, seen, 0)}</div></section>"
    )


def _step(record: EpisodeRecord, step: Step, seen: Insight) -> str:
    place = step.index - 1
    marks = [
        badge("lost", "invalid") if not step.valid else "",
        badge("unscored", "repeated") if seen.repeated[place] else "",
        badge("unscored", "in a circle") if seen.in_cycle[place] else "",
        badge("lost", "first harmful step") if seen.first_harmful == step.index else "",
    ]
    action = (
        f"<code>{html_text(step.action)}</code>"
        if step.action is not None
        else "<em>no action</em>"
    )
    return (
        f'<section class="step" id="step-{step.index}"><h2>Step {step.index} {action}'
        f'<span class="marks">{"".join(marks)}</span></h2><div class="columns"><div>'
        f"{_said(step)}"
        f'<p class="note">read as <b>{html_text(step.how)}</b> · {_took(step)}</p>'
        f'<pre class="told">{html_text(step.observation)}</pre>'
        f"{_admissible(step.admissible)}{_prompt(record, step)}</div>"
        f"{_beside(record, seen, step.index)}</div></section>"
    )


def _said(step: Step) -> str:
    parts = []
    if step.reasoning:
        parts.append(fold("Reasoning", f'<pre class="said">{html_text(step.reasoning)}</pre>'))
    if step.reply:
        parts.append(f'<pre class="said">{html_text(step.reply)}</pre>')
    for call in step.tool_calls:
        parts.append(f'<pre class="said">{html_text(f"{call.name}({call.arguments})")}</pre>')
    return "".join(parts)


def _took(step: Step) -> str:
    parts = [f"{step.seconds:.2f} s", f"progress {step.progress:.2f}"]
    for call in step.calls:
        if call.usage is not None:
            parts.append(f"{call.usage.prompt_tokens:,} + {call.usage.completion_tokens:,} tokens")
        if call.cost is not None:
            parts.append(f"cost {call.cost:.5f}")
        if call.attempts > 1:
            parts.append(f"{call.attempts} tries")
    return html_text(" · ".join(parts))


def _admissible(commands: Sequence[str]) -> str:
    if not commands:
        return ""
    listed = "".join(f"<li><code>{html_text(command)}</code></li>" for command in commands)
    return fold(f"Possible commands: {len(commands)}", f'<ul class="commands">{listed}</ul>')


def _prompt(record: EpisodeRecord, step: Step) -> str:
    """The prompt as it was sent; what the last one did not say is marked."""
    messages = record.prompt(step)
    if not messages:
        return ""
    before = record.prompt(record.steps[step.index - 2]) if step.index > 1 else []
    shown = "".join(
        f"<h5>{html_text(message.role)}</h5>{_message(message, _earlier(before, place))}"
        for place, message in enumerate(messages)
    )
    size = sum(len(message.content) for message in messages)
    return fold(f"Prompt as sent: {len(messages)} messages, {size:,} characters", shown)


def _earlier(before: Sequence[Message], place: int) -> str | None:
    return before[place].content if place < len(before) else None


def _message(message: Message, earlier: str | None) -> str:
    if earlier is None or earlier == message.content:
        return f"<pre>{html_text(message.content)}</pre>"
    old, new = earlier.splitlines(), message.content.splitlines()
    lines = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, _, _, start, end in matcher.get_opcodes():
        text = html_text("\n".join(new[start:end]))
        lines.append(f"<mark>{text}</mark>" if kind in ("insert", "replace") and text else text)
    return f"<pre>{chr(10).join(lines)}</pre>"


def _beside(record: EpisodeRecord, seen: Insight, place: int) -> str:
    """How far the goal is, the way there, and what the agent knows of the place."""
    parts = []
    if place < len(seen.distances):
        distance = seen.distances[place]
        said = "out of reach" if distance is None else f"{distance} steps from here"
        parts.append(f"<h3>The goal is {said}</h3>")
        plan = seen.plans[place]
        if plan and distance is not None:
            listed = "".join(f"<li><code>{html_text(c)}</code></li>" for c in plan[:_PLAN_SHOWN])
            parts.append(f'<ol class="plan">{listed}</ol>')
    parts.append(home_map(record, place))
    content = "".join(parts)
    return f"<aside>{content}</aside>" if content else ""
