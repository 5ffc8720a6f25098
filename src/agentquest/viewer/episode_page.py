"""One episode, step by step: prompt, reply, action and observation, and the way to the goal."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

import htpy as h
from markupsafe import Markup

from agentquest.lib.markup import Piece, Template, join
from agentquest.metrics.report import amount_text, tokens_text
from agentquest.metrics.rows import add_up_calls
from agentquest.records.episode import Call, EpisodeRecord, Step
from agentquest.records.messages import ReplyKind
from agentquest.records.outcome import MEANINGS
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.charts import draw_curve, draw_line, draw_rect, draw_text, picture
from agentquest.viewer.layout import (
    alert,
    badge,
    facts,
    fold,
    link,
    outcome,
    pre,
    up_link,
)
from agentquest.viewer.prompt_page import prompt_size
from agentquest.viewer.replay import Analysis, pictures_of
from agentquest.words import counted

_PLAN_SHOWN = 12
_LONG_THOUGHT = 700
_WIDTH, _HEIGHT = 1300, 132  # of the chart of progress
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 36, 12, 104
Scale = Callable[[float], float]
_KEYS = Markup(
    '<p class="note keys"><kbd>←</kbd> <kbd>→</kbd> or <kbd>j</kbd> <kbd>k</kbd> to step'
    " · <kbd>space</kbd> to play · <kbd>Home</kbd> <kbd>End</kbd></p>"
)
# For those without a keyboard; the script shows them, because nothing else can move the page.
_BUTTONS = Markup(
    '<p class="moves" hidden>'
    '<button type="button" data-move="-1" title="the step before">←</button>'
    '<button type="button" data-move="1" title="the next step">→</button>'
    '<button type="button" data-move="play">Play</button></p>'
)
# What is drawn at a step, by what is most worth seeing, with the words of the legend.
MARKS = {
    "harmful": "first harmful step",
    "invalid": "not carried out",
    "cycle": "in a cycle",
    "repeated": "repeated",
    "plain": "step",
}
_SECTION = Template(
    '<section class="step" id="step-%s"><h2><span class="number">%s</span> %s</h2>'
    '<div class="columns"><div>%s</div>%s</div></section>'
)
_HEADING = Template('%s<span class="marks">%s</span>')
_CODE = Template("<code>%s</code>")
_NO_ACTION = Markup("<em>no action</em>")
_NOTE = Template('<p class="note took">%s</p>')
_PROMPT = Template("<details%s><summary>%s</summary><p>%s</p></details>")
_LOAD = Template(' data-load="%s&amp;bare=1"')
_PLAY_ON = Template('<p class="play-on">%s</p>')
_ASIDE = Template('<aside aria-label="after step %s">%s</aside>')
_GOAL = Template("<h3>The goal is %s</h3>")
_PLAN = Template('<ol class="plan"><li><code>%s</code></li></ol>')
_BETWEEN_COMMANDS = Markup("</code></li><li><code>")
_STEP_ON_CHART = Template(
    '<a href="%s" data-goto="%s" aria-label="%s"><title>%s</title>'
    '<rect class="hit" x="%.1f" y="4" width="%.1f" height="%s"/>%s</a>'
)
_CROSS = Template('<path class="mark %s" d="M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1f"/>')
_TRIANGLE = Template('<path class="mark %s" d="M%.1f %.1fL%.1f %.1fH%.1fz"/>')
_SQUARE = Template('<rect class="mark %s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>')
_DISC = Template('<circle class="mark %s" cx="%.1f" cy="%.1f" r="%.1f"/>')


def episode_page(
    site: Addresses, run: str, record: EpisodeRecord, seen: Analysis
) -> Iterator[h.Node]:
    """The whole episode; the script goes to the step that the address names."""
    yield up_link(site.run(run), run)
    yield h.h1[record.goal or "(no goal)"]
    yield _facts(record)
    if record.error is not None:
        error = record.error
        yield alert(f"{error.source}, {error}")
        if error.traceback:
            yield fold("Where it happened", pre(error.traceback))
    if record.explanation:
        yield alert(record.explanation)
    yield progress_chart(site, run, record, seen)
    yield _findings(site, run, record, seen)
    yield _KEYS
    sections = _Sections(site, run, record, seen)
    yield h.div(".replay", data_steps=len(record.steps))[
        sections.opening(), map(sections.step, record.steps)
    ]


def _facts(record: EpisodeRecord) -> Iterator[h.Node]:
    kind = outcome(record)
    spent = add_up_calls(record.calls)
    tokens = tokens_text(spent, spent.prompt_tokens + spent.completion_tokens)
    shown: Mapping[str, Piece] = {
        "outcome": badge(kind, MEANINGS[record.end]),
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
        "tokens": tokens if spent.calls else "–",
        "cost": amount_text(spent) if spent.calls else "–",
        "seconds": f"{record.seconds:.1f}",
        "seed": str(record.seed),
        **record.facts,
        "started": record.started_at[:19].replace("T", " "),
    }
    yield facts(shown.items())
    if record.details:
        details = json.dumps(record.details, indent=2, ensure_ascii=False, default=str)
        yield fold("Details of the benchmark", pre(details))


def _findings(site: Addresses, run: str, record: EpisodeRecord, seen: Analysis) -> h.Node:
    """The places worth a look, as links."""
    loop = next((place for place, looped in enumerate(seen.in_cycle, start=1) if looped), None)
    unread = next((one.index for one in record.steps if one.action is None), None)
    found = [
        (seen.first_harmful, "first step away from the goal"),
        (seen.lost_for_good, "the goal is out of reach from here on"),
        (loop, "the agent starts going in cycles"),
        (unread, "first reply without an action"),
    ]
    places = sorted((place, text) for place, text in found if place is not None)
    return (
        places
        and h.ul(".findings")[
            (
                h.li[link(site.episode(run, record.key, place), f"step {place}"), f" {text}"]
                for place, text in places
            )
        ]
    )


class _Sections:
    """The sections of an episode; maps and pages grow from step to step."""

    def __init__(self, site: Addresses, run: str, record: EpisodeRecord, seen: Analysis) -> None:
        self._site, self._run, self._record, self._seen = site, run, record, seen
        self._pictures = pictures_of(record)

    def opening(self) -> Markup:
        record = self._record
        text = pre(record.first_observation, "told")
        commands = _admissible(record.first_admissible)
        parts = join((text, commands, self._play_on(0)))
        return _SECTION(0, 0, "Start", parts, self._aside(0))

    def step(self, step: Step) -> Markup:
        parts = (
            *_reply(step),
            pre(step.observation, "told"),
            _note(step),
            _admissible(step.admissible),
            self._prompt(step),
            self._play_on(step.index),
        )
        heading = _HEADING(
            _NO_ACTION if step.action is None else _CODE(step.action),
            join(self._marks(step)),
        )
        return _SECTION(
            step.index, step.index, heading, join(parts), self._aside(step.index)
        )  # fmt: skip

    def _marks(self, step: Step) -> Iterator[Markup]:
        seen, place = self._seen, step.index - 1
        if not step.valid:
            yield badge("lost", "not carried out")
        if seen.repeated[place]:
            yield badge("unscored", "repeated")
        if seen.in_cycle[place]:
            yield badge("unscored", "in a cycle")
        if seen.first_harmful == step.index:
            yield badge("lost", "first harmful step")
        lost = seen.lost_for_good is not None and step.index >= seen.lost_for_good
        if lost or not step.reachable:
            yield badge("lost", "goal out of reach")

    def _prompt(self, step: Step) -> Markup:
        """Where the prompt is; the script shows it here on demand."""
        messages, size = prompt_size(self._record, step)
        if not messages:
            return Markup()
        address = self._site.prompts(self._run, self._record.key, step.index)
        load = _LOAD(address) if self._site.served else ""
        title = f"Prompt as sent: {counted(messages, 'message')}, {counted(size, 'character')}"
        return _PROMPT(load, title, link(address, "the whole prompt on its own page"))

    def _play_on(self, step: int) -> Markup:
        address = self._site.play_on(self._run, self._record.key, step)
        if address is None or not self._seen.can_play:
            return Markup()
        return _PLAY_ON(link(address, "Play on from here"))

    def _aside(self, place: int) -> Markup:
        """How far the goal is, the way there, and what the agent knows of the place."""
        content = join((self._way(place), self._pictures[place]))
        return _ASIDE(place, content) if content else Markup()

    def _way(self, place: int) -> Markup:
        seen = self._seen
        if place >= len(seen.distances):
            return Markup()
        distance, plan = seen.distances[place], seen.plans[place]
        if distance is None:
            return _GOAL("out of reach")
        goal = _GOAL(f"{counted(distance, 'step')} from here" if distance else "reached")
        if not plan:
            return goal
        return goal + _PLAN(_BETWEEN_COMMANDS.join(plan[:_PLAN_SHOWN]))


def _reply(step: Step) -> Iterator[Markup]:
    if step.reasoning:
        shown = pre(step.reasoning, "said")
        long = len(step.reasoning) > _LONG_THOUGHT
        title = f"Reasoning: {counted(len(step.reasoning), 'character')}"
        yield fold(title, shown) if long else shown
    if step.reply and step.reply != step.action:
        yield pre(step.reply, "said")
    for call in step.tool_calls:
        yield pre(f"{call.name}({call.arguments})", "said")


def _note(step: Step) -> Markup:
    parts = [f"read as {step.how}", f"progress {step.progress:.2f}", f"{step.seconds:.2f} s"]
    parts += [_describe_call(call) for call in step.calls]
    return _NOTE(" · ".join(parts))


def _describe_call(call: Call) -> str:
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


def _admissible(commands: Sequence[str]) -> Markup:
    if not commands:
        return Markup()
    # One element, not one for each: commands would be most of a long page's elements.
    return fold(f"Possible commands: {len(commands)}", pre("\n".join(commands), "commands"))


def progress_chart(site: Addresses, run: str, record: EpisodeRecord, seen: Analysis) -> h.Node:
    """Progress over the steps, with the oracle's distance and the places to look at.

    Marks differ in shape as well as in colour.
    """
    count = len(record.steps)
    if not count:
        return None
    wide = (_WIDTH - _LEFT - _RIGHT) / count

    def x(place: float) -> float:
        return _LEFT + wide * place

    def y(share: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * min(max(share, 0.0), 1.0)

    values = [0.0, *(step.progress for step in record.steps)]
    shapes = [*_frame(count, x, y), *_unreachable(seen, count, x), *_distance(seen, x, y)]
    points = ((x(place), y(value)) for place, value in enumerate(values))
    shapes.append(draw_curve("progress-line", points))
    kinds = set()
    for step in record.steps:
        kind = _kind(step, seen)
        kinds.add(kind)
        title = f"step {step.index}: {step.action or 'no action'}"
        title += "" if kind == "plain" else f" ({MARKS[kind]})"
        address = site.episode(run, record.key, step.index) or ""
        left = x(step.index) - wide / 2
        sign = draw_mark(kind, x(step.index), y(step.progress), min(4.0, max(1.6, wide / 2)))
        shapes.append(_STEP_ON_CHART(address, step.index, title, title, left, wide, _BOTTOM, sign))
    label = f"progress from 0 to {record.progress:.2f} over {counted(count, 'step')}"
    svg = picture("timeline", (_WIDTH, _HEIGHT), "Progress", label, shapes, role="group")
    return h.figure(".timeline", aria_label=f"Progress: {label}")[
        h.div(".scroll", tabindex="0", role="group", aria_label="Steps")[svg],
        h.figcaption(".legend")[_chart_legend(kinds, seen)],
        _BUTTONS,
    ]


def draw_mark(kind: str, x: float, y: float, size: float) -> Markup:
    """A small sign at a place: a dot, a ring, a square, a cross or a triangle."""
    left, right, top, bottom = x - size, x + size, y - size, y + size
    if kind == "invalid":
        return _CROSS(kind, left, top, right, bottom, right, top, left, bottom)
    if kind == "harmful":
        wide = size * 1.5
        return _TRIANGLE(kind, x, y + wide, x - wide, y - wide, x + wide)
    if kind == "cycle":
        return _SQUARE(kind, left, top, 2 * size, 2 * size)
    return _DISC(kind, x, y, size)


def _kind(step: Step, seen: Analysis) -> str:
    place = step.index - 1
    if seen.first_harmful == step.index:
        return "harmful"
    if not step.valid:
        return "invalid"
    if seen.in_cycle[place]:
        return "cycle"
    return "repeated" if seen.repeated[place] else "plain"


def _frame(count: int, x: Scale, y: Scale) -> Iterator[Markup]:
    for value in (0, 0.5, 1):
        yield draw_line("rule", _LEFT, y(value), _WIDTH - _RIGHT, y(value))
        yield draw_text(_LEFT - 8, y(value) + 4, f"{value:g}", "tick end")
    apart = next(n for n in (1, 2, 5, 10, 20, 50, 100, 1000, 10_000) if count / n <= 25)
    for step in range(0, count + 1, apart):
        yield draw_text(x(step), _HEIGHT - 8, str(step), "tick middle")


def _unreachable(seen: Analysis, count: int, x: Scale) -> Iterator[Markup]:
    if seen.lost_for_good is not None:
        start = x(seen.lost_for_good - 0.5)
        width, title = x(count) - start + 8, "the goal is out of reach"
        yield draw_rect("lost-for-good", start, _TOP, width, _BOTTOM - _TOP, title=title)


def _distance(seen: Analysis, x: Scale, y: Scale) -> Iterator[Markup]:
    """The oracle's remaining steps, as a share of the most there ever were."""
    most = max((distance for distance in seen.distances if distance is not None), default=0)
    if not most:
        return
    known = ((place, each) for place, each in enumerate(seen.distances) if each is not None)
    yield draw_curve("distance-line", ((x(place), y(each / most)) for place, each in known))
    for share, text in ((1, str(most)), (0, "0")):
        yield draw_text(_WIDTH - _RIGHT + 11, y(share) + 4, text, "tick")


def _chart_legend(kinds: set[str], seen: Analysis) -> Iterator[h.Node]:
    yield h.span[h.i(".line.progress"), "progress (left)"]
    if seen.distances:
        yield h.span[h.i(".line.distance"), "steps to the goal (right)"]
    for kind, text in MARKS.items():
        if kind in kinds:
            sign = draw_mark(kind, 6, 6, 3.5)
            yield h.span[h.svg(".sign", viewBox="0 0 12 12", aria_hidden="true")[sign], text]
    if seen.lost_for_good is not None:
        yield h.span[h.i(".area"), "goal out of reach"]
