"""Exported pages hold nothing but what we wrote: every text of others is only text, and every
link leads to a file that is there."""

import re
import tracemalloc
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from agentquest.errors import UserError
from agentquest.records.episode import EpisodeRecord, Failure
from agentquest.records.messages import Message
from agentquest.records.outcome import End
from agentquest.safe_text import visible
from agentquest.store.library import Library
from agentquest.viewer.charts import (
    Dot,
    curve_chart,
    histogram,
    interval_chart,
    scatter,
)
from agentquest.viewer.export import export
from agentquest.viewer.pages import POLICY
from report_runs import HARM, hostile, hostile_manifest, manifest, play, record, saved, step

VOID = {"meta", "link", "input", "br"}
ELEMENTS = {
    *("html", "head", "meta", "link", "title", "script", "body", "main", "header", "nav"),
    *("section", "aside", "h1", "h2", "h3", "h5", "p", "a", "b", "i", "em", "div", "span"),
    *("small", "code", "pre", "kbd", "mark", "time", "dl", "dt", "dd", "ul", "ol", "li", "details"),
    *("summary", "figure", "figcaption", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("form", "label", "select", "option", "input", "button"),
    *("svg", "g", "line", "rect", "circle", "text", "polyline", "path"),
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


def pages_of(folder: Path) -> dict[str, tuple[str, Page]]:
    found = {}
    for file in sorted(folder.rglob("*.html")):
        written = file.read_text(encoding="utf-8")
        found[file.relative_to(folder).as_posix()] = (written, Page(written))
    return found


@pytest.fixture(scope="module")
def played() -> list[EpisodeRecord]:
    return play("muddled", failing=(2,))


@pytest.fixture(scope="module")
def exported(played: list[EpisodeRecord], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs that may be compared, one that nobody may trust, one that cannot be read."""
    folder = tmp_path_factory.mktemp("runs")
    scored = [one for one in played if one.scored]
    tasks = [one.task_id for one in scored]
    saved(folder / "one", scored, manifest(run_id="one", task_ids=tasks))
    other = [
        one.model_copy(update={"success": False, "end": End.STEP_LIMIT, "steps": one.steps[:2]})
        for one in scored
    ]
    saved(folder / "two", other, manifest(run_id="two", task_ids=tasks))
    saved(folder / "hostile", hostile(), hostile_manifest())
    (folder / "broken").mkdir()
    (folder / "broken" / "manifest.json").write_text("{")
    target = tmp_path_factory.mktemp("site") / "pages"
    assert export(Library(folder), target) == sum(
        file.is_file() and not file.name.startswith(".") for file in target.rglob("*")
    )
    return target


def test_every_link_leads_to_a_file_and_every_id_is_there_once(exported: Path) -> None:
    pages = pages_of(exported)
    ids = {name: found.attributes("id") for name, (_, found) in pages.items()}
    for name, (_, found) in pages.items():
        assert len(ids[name]) == len(set(ids[name])), name
        for address in found.attributes("href") + found.attributes("src"):
            parts = urlsplit(address)
            assert not parts.scheme, address
            assert not address.startswith("/"), address
            file = exported / Path(name).parent / unquote(parts.path) if parts.path else None
            target = name if file is None else file.resolve().relative_to(exported).as_posix()
            assert (exported / target).is_file(), (name, address)
            if parts.fragment and target.endswith(".html"):
                assert parts.fragment in ids[target], (name, address)


def test_an_export_is_the_whole(exported: Path, played: list[EpisodeRecord]) -> None:
    pages = pages_of(exported)
    number = sum(one.scored for one in played)
    assert {"index.html", "leaderboard.html", "people.html"} <= pages.keys()
    for run in ("-one", "-two"):
        files = [name for name in pages if re.fullmatch(rf"run/\d+{run}/\d+\.html", name)]
        assert len(files) == number
    text = pages["index.html"][0]
    assert "broken: " in text
    assert "compare with the first" in pages["leaderboard.html"][0]
    assert "solves more" in pages["compare/1/index.html"][0] or "No clear" in "".join(
        pages["compare/1/index.html"][1].texts
    )
    assert "first differ at step 3." in pages["compare/1/1.html"][0]


def test_hostile_texts_become_no_element_attribute_or_address(exported: Path) -> None:
    for name, (written, found) in pages_of(exported).items():
        assert {tag for tag, _ in found.elements} <= ELEMENTS, name
        scripts = [attrs for tag, attrs in found.elements if tag == "script"]
        assert [set(attrs) for attrs in scripts] == [{"src", "defer"}]
        for tag, attrs in found.elements:
            assert not [key for key in attrs if key.startswith("on")], tag
            assert not {"srcset", "action", "formaction", "data", "xlink:href", "style"} & set(
                attrs
            )
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\u2028]", written), name


def test_hostile_texts_are_all_there(exported: Path) -> None:
    texts = [text for _, found in pages_of(exported).values() for text in found.texts]
    for text in (visible(HARM), "x" * 300_000):
        assert any(text in shown for shown in texts)
    assert sum(visible(HARM) in shown for shown in texts) > 30


def test_the_policy_comes_before_anything_it_governs(exported: Path) -> None:
    for name, (_, found) in pages_of(exported).items():
        order = [
            attrs.get("content") if "http-equiv" in attrs else tag
            for tag, attrs in found.elements
            if tag in ("link", "script") or "http-equiv" in attrs
        ]
        assert order[0] == POLICY, name
        assert order.count(POLICY) == 1
    assert "unsafe" not in POLICY
    assert "http" not in POLICY


def test_every_step_is_there_whole(exported: Path, played: list[EpisodeRecord]) -> None:
    texts = {
        text
        for name, (_, found) in pages_of(exported).items()
        if "-one/" in name
        for text in found.texts
    }
    all_text = "\n".join(texts)
    for one in (one for one in played if one.scored):
        assert one.goal in texts
        assert one.first_observation in texts
        for taken in one.steps:
            assert {taken.observation, taken.reply} <= texts
            assert taken.action is None or taken.action in texts
            assert "\n".join(taken.admissible) in texts | {""}
            for message in one.prompt(taken):
                assert all(line in all_text for line in message.content.splitlines())


def test_pages_can_be_read_aloud(exported: Path) -> None:
    for name, (_, found) in pages_of(exported).items():
        assert next(attrs for tag, attrs in found.elements if tag == "html")["lang"] == "en"
        for tag, attrs in found.elements:
            if tag == "th":
                assert attrs.get("scope") in ("row", "col")
            if tag == "svg":
                assert attrs.get("aria-hidden") == "true" or attrs.get("aria-label")
        tags = [tag for tag, _ in found.elements]
        assert tags.count("h1") == tags.count("main") == 1, name
        assert tags.count("caption") == tags.count("table")
        assert tags.count("summary") == tags.count("details")


def test_an_episode_run_again_is_shown_once_as_it_counts(tmp_path: Path) -> None:
    first = Failure(source="model", kind="ModelError", message="the first try")
    failed = record("a", End.INFRASTRUCTURE_FAULT, 1, error=first)
    again = record("a", End.SOLVED, [step(1, observation="the second try")])
    late = first.model_copy(update={"message": "too late"})
    later = failed.model_copy(update={"error": late})
    run = saved(tmp_path / "run", [failed, record("b"), again, again, later])
    export(Library(run.path), tmp_path / "pages")
    pages = pages_of(tmp_path / "pages")
    assert pages.keys() == {"index.html", "glossary.html", "1.html", "2.html"}
    everything = "".join(written for written, _ in pages.values())
    assert everything.count("the second try") == 1
    assert "the first try" not in everything
    assert "too late" not in everything


def test_long_runs_are_listed_on_several_pages(tmp_path: Path) -> None:
    run = saved(tmp_path / "run", [record(f"t{i}") for i in range(401)])
    export(Library(run.path), tmp_path / "pages")
    listed = [
        re.findall(r'<a href="(\d+)\.html">put some', (tmp_path / "pages" / name).read_text())
        for name in ("index.html", "page-2.html", "page-3.html")
    ]
    assert [len(numbers) for numbers in listed] == [200, 200, 1]
    assert sorted({int(n) for numbers in listed for n in numbers}) == list(range(1, 402))


def test_prompts_are_never_all_in_memory(tmp_path: Path) -> None:
    """12 MB of prompts are written; far less than that is held at once."""
    size, number = 400_000, 30

    def with_prompt(i: int) -> EpisodeRecord:
        message = Message(role="user", content=f"{i:05d}" * (size // 5))
        return record(f"t{i}", steps=[step(1, prompt=[0])], messages=[message])

    run = saved(tmp_path / "run", [with_prompt(i) for i in range(number)])
    tracemalloc.start()
    export(Library(run.path), tmp_path / "pages")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    written = sum(file.stat().st_size for file in (tmp_path / "pages").glob("*-prompts.html"))
    assert written > size * number
    assert peak < size * number / 2


def test_an_export_takes_the_place_of_an_earlier_one_only(tmp_path: Path) -> None:
    run = saved(tmp_path / "run", [record("a"), record("b")])
    target = tmp_path / "pages"
    export(Library(run.path), target)
    (target / "old.html").touch()
    export(Library(run.path), target)
    assert not (target / "old.html").exists()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(UserError, match="not empty"):
        export(Library(run.path), mine)
    assert (mine / "thesis.txt").read_text() == "years of work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "pages", "run"]


@pytest.mark.parametrize("number", [0, 1, 7, 49, 50, 1000, 123_456, 10**9])
def test_histograms_hold_every_value(number: int) -> None:
    values = [(0.0, "won"), (float(number), "lost"), (number / 2, "won")]
    drawn = histogram("T", "steps", values)
    counts = re.findall(r"<title>(\d+) (?:won|lost)</title>", drawn)
    assert sum(map(int, counts)) == 3
    assert len(re.findall("<rect", drawn)) <= 30
    Page(drawn)


def test_charts_take_hostile_labels_and_no_values() -> None:
    for drawn in (
        interval_chart(HARM, [(HARM, None, HARM)]),
        curve_chart(HARM, [], [], 0),
        histogram(HARM, HARM, []),
        scatter(HARM, HARM, HARM, []),
        scatter(HARM, HARM, HARM, [Dot(0, 0, "won", HARM)]),
    ):
        found = Page(drawn)
        assert {tag for tag, _ in found.elements} <= ELEMENTS
        assert not any(name.startswith("on") for _, attrs in found.elements for name in attrs)


def test_a_large_run_has_pages_of_those_that_failed_first(tmp_path: Path) -> None:
    ends = [End.SOLVED, End.STEP_LIMIT, End.SOLVED, End.FAILED, End.SOLVED]
    named = [record(f"task-{place}", end) for place, end in enumerate(ends)]
    saved(tmp_path / "run", named, manifest(task_ids=[one.task_id for one in named]))
    export(Library(tmp_path / "run"), tmp_path / "some", most_episodes=3)
    some = tmp_path / "some"
    assert {file.name for file in some.glob("[0-9]*.html")} == {"1.html", "2.html", "4.html"}
    listed = (some / "index.html").read_text(encoding="utf-8")
    assert all(f"task-{place}" in listed for place in range(5)), "every episode is listed"
    assert "3 episodes of 5 have pages here" in listed
    links = re.findall(r'href="(\d+\.html)', listed)
    assert set(links) == {"1.html", "2.html", "4.html"}
    export(Library(tmp_path / "run"), tmp_path / "all")
    assert len([*(tmp_path / "all").glob("[0-9]*.html")]) == 5
    assert "have pages here" not in (tmp_path / "all" / "index.html").read_text(encoding="utf-8")
