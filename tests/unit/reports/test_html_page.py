"""The HTML page holds nothing but what we wrote: every text of others is only text."""

import re
import tracemalloc
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agentquest.metrics.table import metrics_table
from agentquest.records.episode import EpisodeRecord, Failure
from agentquest.records.manifest import Manifest
from agentquest.records.messages import Message
from agentquest.records.outcome import End
from agentquest.reports.model import build_report
from agentquest.reports.render.html.charts import (
    Bar,
    bar_chart,
    curve_chart,
    histogram,
    interval_chart,
)
from agentquest.reports.render.html.page import POLICY, page, sketched, write_html_report
from agentquest.reports.render.html.trajectory import Prompts
from agentquest.reports.safe_text import visible
from report_runs import HARM, hostile, hostile_manifest, manifest, play, record, saved, step

VOID = {"meta", "link", "input"}
ELEMENTS = {
    *("html", "head", "meta", "link", "title", "style", "body", "main", "header", "section"),
    *("h1", "h2", "h3", "h5", "p", "a", "div", "span", "strong", "small", "code", "pre"),
    *("dl", "dt", "dd", "ul", "ol", "li", "details", "summary", "figure", "figcaption"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "fieldset", "legend", "label"),
    *("input", "svg", "g", "line", "rect", "circle", "text", "polyline"),
}


class Page(HTMLParser):
    """All elements and texts of a page; refuses a page whose elements are not nested."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(content)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def attributes(self, name: str) -> list[str]:
        return [attrs[name] or "" for _, attrs in self.elements if name in attrs]


def page_of(records: list[EpisodeRecord], content: Manifest) -> tuple[str, Page]:
    table = metrics_table(content)
    sketches = sketched(enumerate(records), table)
    report = build_report(content, [sketch.row for sketch in sketches], table)
    written = "".join(page(report, sketches, records))
    return written, Page(written)


@pytest.fixture(scope="module")
def played() -> list[EpisodeRecord]:
    return play("muddled", failing=(2,))


def test_hostile_texts_become_no_element_attribute_or_address() -> None:
    written, found = page_of(hostile(), hostile_manifest())
    assert {tag for tag, _ in found.elements} <= ELEMENTS
    for tag, attrs in found.elements:
        assert not [name for name in attrs if name.startswith("on")], tag
        assert not {"src", "srcset", "action", "formaction", "data", "xlink:href"} & set(attrs)
        target = attrs.get("href")
        assert target is None or target == "data:," or re.fullmatch(r"#[a-z]+\d*", target)
        style = attrs.get("style")
        assert style is None or re.fullmatch(r"width:\d+%", style)
    assert "url(" not in written
    assert "@import" not in written
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\u2028]", written)


def test_hostile_texts_are_all_there() -> None:
    _, found = page_of(hostile(), hostile_manifest())
    for text in (visible(HARM), "x" * 300_000):
        assert any(text in shown for shown in found.texts)
    assert sum(visible(HARM) in shown for shown in found.texts) > 30


def test_policy_comes_before_anything_it_governs(played: list[EpisodeRecord]) -> None:
    _, found = page_of(played, manifest())
    policies = [
        attrs["content"]
        for _, attrs in found.elements
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == [POLICY]
    assert POLICY == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    order = [tag for tag, attrs in found.elements if tag == "style" or "http-equiv" in attrs]
    assert order == ["meta", "style"]


def test_every_step_is_there_whole(played: list[EpisodeRecord]) -> None:
    _, found = page_of(played, manifest())
    texts = set(found.texts)
    for one in played:
        assert one.goal in texts
        assert one.first_observation in texts
        for taken in one.steps:
            assert {taken.observation, taken.reply, taken.how} <= texts
            assert taken.action is None or taken.action in texts
            assert "\n".join(taken.admissible) in texts | {""}
            assert {message.content for message in one.prompt(taken)} <= texts
    errors = [one.error.message for one in played if one.error is not None]
    assert len(errors) == 1
    assert errors[0] in texts


def test_links_lead_somewhere_and_ids_are_unique(played: list[EpisodeRecord]) -> None:
    said = [Message(role="user", content="w" * 900)]
    long = record("long", steps=[step(1, prompt=[0])] * 2, messages=said)
    _, found = page_of([*played, long], manifest())
    ids = found.attributes("id")
    assert len(ids) == len(set(ids))
    targets = {link[1:] for link in found.attributes("href") if link.startswith("#")}
    assert targets <= set(ids)
    assert {f"e{position}" for position in range(1, len(played) + 2)} <= targets
    assert any(target.startswith("m") for target in targets)


def test_page_can_be_read_aloud(played: list[EpisodeRecord]) -> None:
    _, found = page_of(played, manifest())
    html_attributes = next(attrs for tag, attrs in found.elements if tag == "html")
    assert html_attributes["lang"] == "en"
    for tag, attrs in found.elements:
        if tag == "th":
            assert attrs.get("scope") in ("row", "col")
        if tag == "svg":
            assert attrs.get("aria-hidden") == "true" or attrs.get("aria-label")
    tags = [tag for tag, _ in found.elements]
    assert tags.count("h1") == tags.count("main") == 1
    assert tags.count("caption") == tags.count("table")
    assert tags.count("summary") == tags.count("details")
    assert sum("chart" in (attrs.get("class") or "") for _, attrs in found.elements) == 5


def test_a_long_message_is_shown_once_and_linked_after() -> None:
    prompts = Prompts()
    message = Message(role="system", content="rules " * 100)
    first, second = prompts.render([message]), prompts.render([message])
    assert message.content in first
    assert message.content not in second
    assert 'href="#m1"' in second


def test_prompts_past_the_budget_are_left_out_and_said() -> None:
    prompts = Prompts(budget=1000)
    shown = prompts.render([Message(role="user", content="a" * 900)])
    left_out = prompts.render([Message(role="user", content="b" * 900)])
    assert "a" * 900 in shown
    assert "b" * 900 not in left_out
    assert "900 characters, left out" in left_out
    assert "episodes.jsonl" in left_out


def test_an_episode_run_again_is_shown_once_as_it_counts(tmp_path: Path) -> None:
    first = Failure(source="model", kind="ModelError", message="the first try")
    failed = record("a", End.INFRASTRUCTURE_FAULT, 1, error=first)
    again = record("a", End.SOLVED, [step(1, observation="the second try")])
    late = first.model_copy(update={"message": "too late"})
    later = failed.model_copy(update={"error": late})
    run = saved(tmp_path / "run", [failed, record("b"), again, again, later])
    write_html_report(run, tmp_path / "page.html")
    written = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert written.count('<details class="episode') == 2
    assert written.count("the second try") == 1
    assert "the first try" not in written
    assert "too late" not in written
    assert Page(written).attributes("id").count("e1") == 1


def test_prompts_are_never_all_in_memory(tmp_path: Path) -> None:
    """24 MB of prompts are written; far less than that is held at once."""
    size, number = 400_000, 60
    run = saved(tmp_path / "run", list(_with_prompts(number, size)))
    tracemalloc.start()
    write_html_report(run, tmp_path / "page.html")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (tmp_path / "page.html").stat().st_size > size * number
    assert peak < size * number / 3


def _with_prompts(number: int, size: int) -> Iterator[EpisodeRecord]:
    for i in range(number):
        message = Message(role="user", content=f"{i:05d}" * (size // 5))
        yield record(f"t{i}", steps=[step(1, prompt=[0])], messages=[message])


def test_a_page_that_fails_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = saved(tmp_path / "run", [record("a")])
    file = tmp_path / "page.html"
    file.write_text("old")
    monkeypatch.setattr("agentquest.reports.render.html.page.trajectory", _full_disk)
    with pytest.raises(OSError, match="no space"):
        write_html_report(run, file)
    assert file.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "run"]


def _full_disk(*args: object) -> Iterator[str]:
    raise OSError("no space left")
    yield


@pytest.mark.parametrize("number", [0, 1, 7, 49, 50, 1000, 123_456, 10**9])
def test_histograms_hold_every_value(number: int) -> None:
    values = [(0.0, "won"), (float(number), "lost"), (number / 2, "won")]
    drawn = histogram("T", "steps", values, ("won", "lost"))
    counts = re.findall(r"<title>(\d+) (?:won|lost)</title>", drawn)
    assert sum(map(int, counts)) == 3
    assert len(re.findall("<rect", drawn)) <= 30
    Page(drawn)


def test_charts_take_hostile_labels_and_no_values() -> None:
    for drawn in (
        interval_chart(HARM, [(HARM, None, HARM)]),
        bar_chart(HARM, [Bar(HARM, 0, "lost")]),
        bar_chart(HARM, []),
        curve_chart(HARM, [], [], 0),
        histogram(HARM, HARM, [], ("won",)),
    ):
        found = Page(drawn)
        assert {tag for tag, _ in found.elements} <= ELEMENTS
        assert not any(name.startswith("on") for _, attrs in found.elements for name in attrs)
