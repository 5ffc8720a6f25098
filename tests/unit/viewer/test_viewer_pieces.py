"""What pages are made of: escaped by type, readable, and told in the words of the glossary."""

from html.parser import HTMLParser
from pathlib import Path

import htpy as h
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from agentquest.lib.markup import Template, join
from agentquest.metrics.statistics import Estimate
from agentquest.safe_text import visible
from agentquest.viewer.compare_page import align, first_difference
from agentquest.viewer.glossary_page import TERMS
from agentquest.viewer.layout import interval, known_columns, link, number, render, table
from agentquest.viewer.prompt_page import mark_new_lines
from agentquest.viewer.replay import analyse_episode, first_harmful_step, open_game
from report_runs import BUILT_IN, manifest, play, record, step

ROOT = Path(__file__).parents[3]
ANY_TEXT = st.text(st.characters(), max_size=60)
HARM = "<b>\"&'"
SAFE = "&lt;b&gt;&quot;&amp;&#x27;"


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.text = ""
        self.value: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.value = dict(attrs).get("title")

    def handle_data(self, data: str) -> None:
        self.text += data


@given(ANY_TEXT)
def test_a_page_holds_the_visible_text_and_no_element_of_it(text: str) -> None:
    for page in (h.p(title=text)[text], Template('<p title="%s">%s</p>')(text, text)):
        parser = _Tags()
        parser.feed(render(page))
        parser.close()
        assert parser.seen == ["p"]
        assert parser.text == visible(text)
        assert parser.value == visible(text)


def test_a_template_escapes_text_and_nothing_else() -> None:
    made = Template('<i title="%s">%s %s %.1f %s</i>')(HARM, Markup("<b>"), h.em[HARM], 0.25, 3)
    assert made == f'<i title="{SAFE}"><b> <em>&lt;b&gt;&#34;&amp;&#39;</em> 0.2 3</i>'
    assert join([made, made]) == made + made


def test_cells_headings_and_captions_are_escaped() -> None:
    text = render(table([HARM], [[HARM], [h.b["x"]]], HARM, HARM, [{}, {"type": HARM}]))
    assert HARM not in text
    assert f"<td>{SAFE}</td>" in text
    assert f'<tr data-type="{SAFE}"><td><b>x</b></td></tr>' in text


def test_what_nobody_sees_is_visible_wherever_it_is() -> None:
    hidden = "a\x1b\u202e\r\nb"
    text = render(h.p(title=hidden)[hidden, Markup("\x00"), link(hidden, hidden)])
    assert "a\\x1b\\u202e\nb" in text
    assert "\\x00" in text
    assert not {"\x1b", "\u202e", "\r", "\x00"} & {*text}


def test_columns_in_which_every_cell_is_empty_are_left_out() -> None:
    rows = [["1", "–", ""], ["–", "–", h.b["x"]]]
    headings, cells = known_columns(["one", "two", "three"], rows)
    assert headings == ["one", "three"]
    assert [len(row) for row in cells] == [2, 2]
    assert known_columns(["one"], [["–"]])[0] == ["one"]


def test_unknown_is_not_zero() -> None:
    assert [number(None, 2), number(0, 2), number(1234.5, 1), number(1234)] == [
        "–", "0.00", "1234.5", "1,234",
    ]  # fmt: skip
    assert interval(None) == "–"
    assert ">50.0%<" in str(interval(Estimate(0.5, 0.25, 0.75, 8, 8)))
    assert ">25–75<" in str(interval(Estimate(0.5, 0.25, 0.75, 10, 10)))
    assert ">25–75 few<" in str(interval(Estimate(0.5, 0.25, 0.75, 20, 9)))


def test_a_rate_is_rounded_once() -> None:
    """0.5546 is 55%; rounded to 55.5 on the way it would be 56%."""
    assert ">20–55<" in str(interval(Estimate(0.36, 0.2, 0.5546, 25, 25)))


@pytest.mark.parametrize(
    ("distances", "expected"),
    [
        ((), None),
        ((3, 2, 1, 0), None),
        ((3, 3, 2), None),  # a step that brings nothing does no harm
        ((3, 2, 3, 4), 2),
        ((3, None, None), 1),
        ((None, 4, 5), 2),
    ],
)
def test_the_first_harmful_step_is_the_first_away_from_the_goal(
    distances: tuple[int | None, ...], expected: int | None
) -> None:
    assert first_harmful_step(distances, [False] * len(distances)) == expected


def test_a_step_that_looks_somewhere_new_is_not_harmful() -> None:
    assert first_harmful_step((3, 4, 3, 4), (True, False, False)) == 3
    assert first_harmful_step((3, None, None), (True, False)) == 1, "nothing is left to look for"


def test_exploring_is_seeing_something_for_the_first_time() -> None:
    """A drawer that was not opened before is worth a look; the same one again is not, nor is
    taking the wrong thing."""
    (game,) = [one for one in play("scripted") if one.task_type == "look_at_obj_in_light"]
    made = manifest(config={"benchmark_settings": BUILT_IN})
    benchmark, driver = open_game(game, made)
    driver.reset()
    target = benchmark.oracle(driver).plan()[0]  # type: ignore[union-attr]
    away = [one for one in game.first_admissible if one.startswith("go to ") and one != target]
    steps, commands = [], [target, away[0], target, away[0]]
    for index, command in enumerate(commands, start=1):
        observation = driver.step(driver.action_class(value=command))
        steps.append(step(index, action=command, observation=observation.text))
    seen = analyse_episode(game.model_copy(update={"steps": steps}), made)
    start, near, far, *_ = seen.distances
    assert near < start
    assert near < far, "the oracle knows that nothing is there"
    assert seen.first_harmful == 4


def test_trajectories_are_aligned_where_they_do_the_same() -> None:
    first, second = (
        record(steps=[step(place, action=one) for place, one in enumerate(actions, start=1)])
        for actions in (["a", "b", "c"], ["a", "x", "y", "c"])
    )
    assert first_difference([first, second]) == 2
    assert first_difference([first, first]) is None
    places = [tuple(one and one.index for one in line) for line in align([first, second])]
    assert places == [(1, 1), (2, 2), (None, 3), (3, 4)]


def test_very_long_trajectories_are_lined_up_by_their_places() -> None:
    """Their common actions cost the square of their length: minutes, while no page is made."""
    names = ["look", *(["inventory"] * 1500)]
    steps = [step(place, action=one) for place, one in enumerate(names, start=1)]
    later = [step(place, action=one) for place, one in enumerate(names[1:], start=1)]
    lines = list(align([record(steps=steps), record(steps=later)]))
    assert all(a is None or b is None or a.index == b.index for a, b in lines)
    assert lines[0][1] is not None, "not moved to its next common action"


def test_only_new_lines_are_marked() -> None:
    assert mark_new_lines("a\nb\nc", "a\n<\nc") == "a\n<mark>&lt;</mark>\nc"
    assert mark_new_lines("a", "a") == "a"
    assert mark_new_lines("a\nb", "a") == "a"


def test_the_glossary_of_the_documentation_is_that_of_the_viewer() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    told = [" ".join(part.split()) for part in page.split("\n\n")[2:]]
    assert told == [f"**{term}**: {meaning}" for term, meaning in TERMS.items()]
