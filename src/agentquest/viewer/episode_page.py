"""One episode, step by step: what was asked, said, read, done and seen, and the way to the goal."""

import json
from collections.abc import Iterator, Sequence

from agentquest.llms.types import ReplyKind
from agentquest.records.episode import Call, EpisodeRecord, Step
from agentquest.records.outcome import MEANINGS
from agentquest.reports.safe_text import html_text
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.insight import Insight
from agentquest.viewer.layout import alert, badge, facts, fold, link, outcome, pre
from agentquest.viewer.progress_chart import progress_chart
from agentquest.viewer.prompt_page import prompt_size
from agentquest.viewer.replay import pictures_of
from agentquest.words import counted

_PLAN_SHOWN = 12
_LONG_THOUGHT = 700


def episode_page(
    site: Addresses, run: str, record: EpisodeRecord, seen: Insight, step: int
) -> Iterator[str]:
    """The whole episode; `step` is the one to begin at."""
    yield f'<p class="up">{link(site.run(run), run)}</p>'
    yield f"<h1>{html_text(record.goal) or '(no goal)'}</h1>"
    yield _facts(record)
    if record.error is not None:
        error = record.error
        yield alert(f"{error.source}, {error.kind}: {error.message}")
    yield progress_chart(site, run, record, seen)
    yield _findings(site, run, record, seen)
    yield (
        '<p class="note keys"><kbd>←</kbd> <kbd>→</kbd> or <kbd>j</kbd> <kbd>k</kbd> to step'
        " · <kbd>space</kbd> to play · <kbd>Home</kbd> <kbd>End</kbd></p>"
        f'<div class="replay" data-steps="{len(record.steps)}" data-step="{step}">'
    )
    views = _Views(site, run, record, seen)
    yield views.opening()
    for one in record.steps:
        yield views.step(one)
    yield "</div>"


def _facts(record: EpisodeRecord) -> str:
    kind = outcome(record.scored, record.success)
    spent = [call.usage for call in record.calls if call.usage is not None]
    tokens = sum(usage.prompt_tokens + usage.completion_tokens for usage in spent)
    priced = [call.cost for call in record.calls if call.cost is not None]
    texts = {
        "task": record.task_id,
        "type": record.task_type,
        "trial": str(record.trial + 1),
        "agent": record.agent,
        "model": record.model or "–",
        "steps": f"{len(record.steps)} of {record.max_steps:,}",
        "progress": f"{record.progress:.2f}",
        "reward": f"{record.reward:.2f}",
        "invalid": str(record.invalid_actions),
        "repetition": f"{record.repetition_rate:.2f}",
        "tokens": f"{tokens:,}" if spent else "–",
        "cost": f"{sum(priced):.4f}" if priced else "–",
        "seconds": f"{record.seconds:.1f}",
        "seed": str(record.seed),
        **record.facts,
        "started": record.started_at[:19].replace("T", " "),
    }
    shown = [(html_text(name), html_text(value)) for name, value in texts.items()]
    extras = ""
    if record.details:
        details = json.dumps(record.details, indent=2, ensure_ascii=False, default=str)
        extras = fold("Details of the benchmark", pre(details))
    return facts([("outcome", badge(kind, MEANINGS[record.end])), *shown]) + extras


def _findings(site: Addresses, run: str, record: EpisodeRecord, seen: Insight) -> str:
    """The places worth a look, as links."""
    lines = []
    if seen.first_harmful is not None:
        lines.append((seen.first_harmful, "first step away from the goal"))
    if seen.lost_for_good is not None:
        lines.append((seen.lost_for_good, "the goal is out of reach from here on"))
    loop = next((place for place, looped in enumerate(seen.in_cycle, start=1) if looped), None)
    if loop is not None:
        lines.append((loop, "the agent starts going in circles"))
    unread = next((one.index for one in record.steps if one.action is None), None)
    if unread is not None:
        lines.append((unread, "first reply without an action"))
    listed = "".join(
        f"<li>{link(site.episode(run, record.key, place), f'step {place}')} {text}</li>"
        for place, text in sorted(lines)
    )
    return f'<ul class="findings">{listed}</ul>' if listed else ""


class _Views:
    """The sections of an episode; maps and pages grow from step to step."""

    def __init__(self, site: Addresses, run: str, record: EpisodeRecord, seen: Insight) -> None:
        self._site, self._run, self._record, self._seen = site, run, record, seen
        self._pictures = pictures_of(record)

    def opening(self) -> str:
        record = self._record
        told = pre(record.first_observation, "told")
        return (
            '<section class="step" id="step-0"><h2><span class="number">0</span> Start</h2>'
            f'<div class="columns"><div>{told}{_admissible(record.first_admissible)}'
            f"{self._play_on(0)}</div>{self._beside(0)}</div></section>"
        )

    def step(self, step: Step) -> str:
        if step.action is not None:
            action = f"<code>{html_text(step.action)}</code>"
        else:
            action = "<em>no action</em>"
        return (
            f'<section class="step" id="step-{step.index}"><h2><span class="number">{step.index}'
            f'</span> {action}<span class="marks">{self._marks(step)}</span></h2>'
            f'<div class="columns"><div>{_said(step)}{pre(step.observation, "told")}'
            f"{_took(step)}{_admissible(step.admissible)}"
            f"{self._prompt(step)}{self._play_on(step.index)}</div>"
            f"{self._beside(step.index)}</div></section>"
        )

    def _marks(self, step: Step) -> str:
        seen, place = self._seen, step.index - 1
        marks = [
            badge("lost", "not carried out") if not step.valid else "",
            badge("unscored", "repeated") if seen.repeated[place] else "",
            badge("unscored", "in a circle") if seen.in_cycle[place] else "",
            badge("lost", "first harmful step") if seen.first_harmful == step.index else "",
            badge("lost", "goal out of reach") if not step.reachable else "",
        ]
        return "".join(marks)

    def _prompt(self, step: Step) -> str:
        """Where the prompt is; the script shows it here when it is asked for."""
        messages, size = prompt_size(self._record, step)
        if not messages:
            return ""
        address = html_text(self._site.prompts(self._run, self._record.key, step.index))
        load = f' data-load="{address}&amp;bare=1"' if self._site.served else ""
        title = f"Prompt as sent: {counted(messages, 'message')}, {counted(size, 'character')}"
        return (
            f"<details{load}><summary>{title}</summary>"
            f'<p><a href="{address}">the whole prompt on its own page</a></p></details>'
        )

    def _play_on(self, step: int) -> str:
        address = self._site.play_on(self._run, self._record.key, step)
        if address is None or not self._seen.can_play:
            return ""
        return f'<p class="play-on">{link(address, "Play on from here")}</p>'

    def _beside(self, place: int) -> str:
        """How far the goal is, the way there, and what the agent knows of the place."""
        seen, parts = self._seen, []
        if place < len(seen.distances):
            distance = seen.distances[place]
            away = "" if distance is None else f"{counted(distance, 'step')} from here"
            said = away or "out of reach"
            parts.append(f"<h3>The goal is {said if distance != 0 else 'reached'}</h3>")
            plan = seen.plans[place]
            if plan and distance is not None:
                shown = "".join(f"<li><code>{html_text(c)}</code></li>" for c in plan[:_PLAN_SHOWN])
                parts.append(f'<ol class="plan">{shown}</ol>')
        parts.append(self._pictures[place])
        content = "".join(parts)
        return f'<aside aria-label="after step {place}">{content}</aside>' if content else ""


def _said(step: Step) -> str:
    parts = []
    if step.reasoning:
        shown = pre(step.reasoning, "said")
        long = len(step.reasoning) > _LONG_THOUGHT
        title = f"Reasoning: {counted(len(step.reasoning), 'character')}"
        parts.append(fold(title, shown) if long else shown)
    if step.reply and step.reply != step.action:
        parts.append(pre(step.reply, "said"))
    for call in step.tool_calls:
        parts.append(pre(f"{call.name}({call.arguments})", "said"))
    return "".join(parts)


def _took(step: Step) -> str:
    parts = [f"read as {step.how}", f"progress {step.progress:.2f}", f"{step.seconds:.2f} s"]
    parts += [_call(call) for call in step.calls]
    return f'<p class="note took">{html_text(" · ".join(parts))}</p>'


def _call(call: Call) -> str:
    usage = call.usage
    parts = [f"{call.model}: tokens unknown"]
    if usage is not None:
        completion = counted(usage.completion_tokens, "token")
        parts = [f"{call.model}: {usage.prompt_tokens:,} → {completion}"]
        if usage.reasoning_tokens:
            parts.append(f"{usage.reasoning_tokens:,} of reasoning")
        if usage.cached_tokens:
            parts.append(f"{usage.cached_tokens:,} cached")
    if call.latency_s:
        parts.append(f"answered in {call.latency_s:.2f} s")
    if call.cost is not None:
        parts.append(f"cost {call.cost:.5f}")
    if call.attempts > 1:
        parts.append(f"{call.attempts} attempts")
    if call.cached:
        parts.append("from the cache")
    if call.kind not in ("", ReplyKind.COMPLETE.value):
        parts.append(call.kind)
    return ", ".join(parts)


def _admissible(commands: Sequence[str]) -> str:
    if not commands:
        return ""
    # One element, not one for each: commands would be most of a long page's elements.
    return fold(f"Possible commands: {len(commands)}", pre("\n".join(commands), "commands"))
