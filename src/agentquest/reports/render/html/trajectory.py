"""One episode as a foldable part of the HTML page: all that the agent saw and said, uncut."""

import hashlib
import json
from collections.abc import Iterator, Sequence

from agentquest.llms.types import ReplyKind
from agentquest.records.episode import Call, EpisodeRecord, Step
from agentquest.records.messages import Message
from agentquest.records.outcome import MEANINGS
from agentquest.reports.render.html.episodes import outcome
from agentquest.reports.safe_text import html_text

# Prompts are most of a run. Past this many characters a page is no longer one that
# a browser opens, and the rest of them is left to the records.
PROMPT_CHARACTERS = 24_000_000
# A link in place of less than this would only be in the way.
_WORTH_A_LINK = 300


class Prompts:
    """Shows each message of a prompt once; where it comes again, a link to it."""

    def __init__(self, budget: int = PROMPT_CHARACTERS) -> None:
        self._left = budget
        self._shown: dict[bytes, int] = {}

    def render(self, messages: Sequence[Message]) -> str:
        characters = sum(len(message.content) for message in messages)
        number = f"{len(messages)} message{'s' if len(messages) > 1 else ''}"
        shown = "".join(self._message(message) for message in messages)
        return fold(f"Prompt: {number}, {characters:,} characters", shown)

    def _message(self, message: Message) -> str:
        role = f"<h5>{html_text(message.role)}</h5>"
        if len(message.content) < _WORTH_A_LINK:
            return f"{role}<pre>{html_text(message.content)}</pre>"
        key = hashlib.sha256(message.content.encode("utf-8", "surrogatepass")).digest()
        if key in self._shown:
            link = f'<a href="#m{self._shown[key]}">as shown before</a>'
            return f"{role}<p>{len(message.content):,} characters, {link}</p>"
        if len(message.content) > self._left:
            return (
                f"{role}<p>{len(message.content):,} characters, left out to keep this page"
                " small enough to open; they are in the run's episodes.jsonl</p>"
            )
        self._left -= len(message.content)
        self._shown[key] = len(self._shown) + 1
        return f'{role}<pre id="m{self._shown[key]}">{html_text(message.content)}</pre>'


def trajectory(record: EpisodeRecord, anchor: str, prompts: Prompts) -> Iterator[str]:
    """The parts of one foldable episode, to be written one after the other."""
    kind = outcome(record.scored, record.success)
    trial = f" · trial {record.trial + 1}" if record.trial else ""
    yield (
        f'<details class="episode {kind}"><summary><span class="badge {kind}">{kind}</span> '
        f'<span class="goal">{html_text(record.goal)}</span> '
        f'<span class="meta">{html_text(record.task_type)}{trial} · {len(record.steps)} steps · '
        f"progress {record.progress:.2f}</span></summary>"
        f'<div class="inside" id="{anchor}">{_about(record)}'
    )
    yield f'<ol class="steps" start="0">{_start(record)}'
    for step in record.steps:
        yield _step(step, record.prompt(step), prompts)
    yield "</ol>"
    if record.error is not None:
        yield (
            f'<div class="alert" role="note"><strong>{html_text(record.error.kind)}</strong>'
            f"<pre>{html_text(record.error.message)}</pre></div>"
        )
    yield '<p class="up"><a href="#episodes">back to the episodes</a></p></div></details>\n'


def fold(summary: str, content: str) -> str:
    """A part that is closed at first; `content` is HTML, `summary` is not."""
    return f"<details><summary>{html_text(summary)}</summary>{content}</details>"


def _about(record: EpisodeRecord) -> str:
    facts = (
        ("task", record.task_id),
        ("problem", record.problem),
        ("end", f"{record.end.value}: {MEANINGS[record.end]}"),
        ("reward", f"{record.reward:g}"),
        ("repetition", f"{record.repetition_rate:.2f}"),
        ("invalid steps", f"{record.invalid_actions} of {len(record.steps)}"),
        ("seed", str(record.seed)),
        *record.facts.items(),
        ("data", record.data_hash[:16]),
        ("started", f"{record.started_at}, took {record.seconds:.1f} s"),
    )
    shown = "".join(
        f"<div><dt>{html_text(name)}</dt><dd>{html_text(value)}</dd></div>"
        for name, value in facts
        if value
    )
    extras = ""
    if record.milestones:
        extras += fold(f"Oracle plan: {len(record.milestones)} commands", _list(record.milestones))
    if record.details:
        details = json.dumps(record.details, indent=2, ensure_ascii=False, default=str)
        extras += fold("Details of the benchmark", f"<pre>{html_text(details)}</pre>")
    return f'<dl class="facts">{shown}</dl>{extras}'


def _start(record: EpisodeRecord) -> str:
    return (
        f'<li><div class="do"><span class="how">start</span></div>'
        f'<pre class="seen">{html_text(record.first_observation)}</pre>'
        f"{_admissible(record.first_admissible)}</li>"
    )


def _step(step: Step, prompt: Sequence[Message], prompts: Prompts) -> str:
    parts = [f'<li class="{"ok" if step.valid else "invalid"}"><div class="do">{_action(step)}']
    parts.append(f'<span class="how">{html_text(step.how)}</span>')
    if not step.valid:
        parts.append('<span class="flag">not carried out</span>')
    if not step.reachable:
        parts.append('<span class="flag">goal out of reach</span>')
    parts.append(_progress(step.progress))
    parts.append("</div>")
    if step.reasoning:
        parts.append(
            fold(
                f"Reasoning: {len(step.reasoning):,} characters",
                f'<pre class="said">{html_text(step.reasoning)}</pre>',
            )
        )
    if step.reply and step.reply != step.action:
        parts.append(f'<pre class="said">{html_text(step.reply)}</pre>')
    parts.append(f'<pre class="seen">{html_text(step.observation)}</pre>')
    parts.append(_admissible(step.admissible))
    if prompt:
        parts.append(prompts.render(prompt))
    parts.append(f'<p class="calls">{_took(step)}</p></li>')
    return "".join(parts)


def _action(step: Step) -> str:
    if step.action is None:
        return '<span class="none">no action in the reply</span>'
    return f"<code>{html_text(step.action)}</code>"


def _progress(value: float) -> str:
    width = 100 * min(max(value, 0.0), 1.0)
    return (
        f'<span class="progress">progress {value:.2f} '
        f'<span class="track"><span style="width:{width:.0f}%"></span></span></span>'
    )


def _admissible(commands: Sequence[str]) -> str:
    if not commands:
        return ""
    return fold(f"Admissible commands: {len(commands)}", _list(commands))


def _list(items: Sequence[str]) -> str:
    # One element, not one for each: lists of commands would be most of a large page's elements.
    return f'<pre class="commands">{html_text(chr(10).join(items))}</pre>'


def _took(step: Step) -> str:
    return " · ".join([f"{step.seconds:.2f} s", *(_call(call) for call in step.calls)])


def _call(call: Call) -> str:
    parts = [f"{html_text(call.model)}: unknown tokens"]
    if call.usage is not None:
        usage = call.usage
        parts = [
            f"{html_text(call.model)}: {usage.prompt_tokens:,} → {usage.completion_tokens:,} tokens"
        ]
        if usage.reasoning_tokens:
            parts.append(f"{usage.reasoning_tokens:,} of reasoning")
    if call.cost is not None:
        parts.append(f"cost {call.cost:.6f}")
    if call.attempts > 1:
        parts.append(f"{call.attempts} attempts")
    if call.cached:
        parts.append("from the cache")
    if call.kind not in ("", ReplyKind.COMPLETE.value):
        parts.append(html_text(call.kind))
    return ", ".join(parts)
