"""Sessions and pages: no input may crash them, an invalid one may change nothing."""

import copy
import json
import random
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentquest.benchmarks.webshop.catalogue.products import Product
from agentquest.benchmarks.webshop.shop.sessions import Sessions
from agentquest.benchmarks.webshop.shop.shop import Shop, ShoppingSession, pages, parse
from agentquest.errors import UserError

NASTY = "<script>alert('x')</script> & \"quoted\" <b>bold</b>"


def state(session):
    return (
        list(session.keywords), session.page_number, session.asin, set(session.visited),
        dict(session.options), session.bought, session.page,
    )  # fmt: skip


def new_session(shop, goal=0):
    return ShoppingSession(shop, str(goal), shop.goals[goal], random.Random(0))


SPECIAL = [
    "search[<a> x]", "search[<c>]", "search[<c> grocery]", "search[<q> teas]", "search[<r>]",
    "search[search_results]", "search[item_page item_sub_page done]", "click[search]",
    "click[buy now]", "click[< prev]", "click[next >]", "click[back to search]",
    "click[description]", "click[features]", "click[reviews]", "click[attributes]",
    "search[canvas backpack]", "search[tea]",
]  # fmt: skip
actions = st.one_of(
    st.text(max_size=30),
    st.text(max_size=20).map(lambda text: f"search[{text}]"),
    st.text(max_size=20).map(lambda text: f"click[{text}]"),
    st.sampled_from(SPECIAL),
    st.integers(0, 40),  # the so-manieth clickable
)


@settings(deadline=None, max_examples=150)
@given(st.lists(actions, max_size=25), st.booleans())
def test_no_action_crashes_and_invalid_ones_change_nothing(shops, moves, strict):
    session = new_session(shops[strict])
    for move in moves:
        if isinstance(move, int):
            shown = session.clickables
            move = f"click[{shown[move % len(shown)]}]" if shown else "click[nothing]"
        before = copy.copy(state(session))
        accepted = session.accepts(move)
        step = session.step(move)
        assert step.valid == accepted
        if not step.valid:
            assert state(session) == before
            assert (step.reward, step.done) == (0, False)
        assert 0 <= step.reward <= 1
        for mode in pages.MODES:
            assert isinstance(session.observe(mode), str)


@pytest.fixture(scope="module")
def shops(catalogue):
    return {strict: Shop(catalogue, strict=strict) for strict in (True, False)}


@pytest.mark.parametrize(
    ("action", "name", "argument"),
    [
        ("search[Red Shoes]", "search", "red shoes"),
        ("click[x] now", "click", "x"),
        ("search[a [b] c]", "search[a ", "b] c"),
        ("I think search[a]", "I think search", "a"),
        ("search[]", "search[]", None),
        ("search[a\nb]", "search[a\nb]", None),
    ],
)
def test_actions_are_read_as_the_original_reads_them(action, name, argument):
    assert parse(action) == (name, argument)


def test_a_visit_from_search_to_purchase(shop):
    session = new_session(shop)
    goal = session.goal
    session.step(f"search[{goal.name}]")
    session.step(f"click[{goal.asin}]")
    assert session.asin == goal.asin
    for value in goal.goal_options.values():
        assert session.step(f"click[{value}]").valid
    assert session.options == goal.goal_options
    session.step("click[description]")
    assert session.step("click[< prev]").valid
    assert session.options == goal.goal_options
    step = session.step("click[buy now]")
    assert (step.reward, step.done) == (1.0, True)
    assert session.clickables == []
    assert not session.step("click[back to search]").valid
    assert session.step("search[tea]").valid  # the original goes on after a purchase, too


def test_every_goal_can_be_reached_and_earns_full_reward(shop):
    for number in range(len(shop.goals)):
        goal = shop.goals[number]
        reward = shop.reward(goal.asin, dict(goal.goal_options), goal)
        assert reward.value == 1.0, goal


def test_a_page_name_among_the_keywords_confuses_only_the_strict_shop(shops):
    for strict, shop in shops.items():
        session = new_session(shop)
        session.step("search[tea search_results]")
        session.step("click[next >]")
        number = session.page_number
        session.step(f"click[{session.clickables[3]}]")
        session.step("click[< prev]")
        assert session.page_number == (number - 1 if strict else number)


def test_turning_pages_has_no_end(shop):
    session = new_session(shop)
    session.step("search[tea]")
    for _ in range(7):
        session.step("click[next >]")
    assert session.page_number == 8
    assert session.clickables == ["back to search", "< prev", "next >"]


def test_searching_at_random_disturbs_no_other_draw(catalogue, shop):
    first, second = Sessions(shop), Sessions(shop)
    first.reset("a").step("search[<r>]")
    second.reset("a")
    assert first.reset().id == second.reset().id


def _product(**changes):
    return Product(**{
        "asin": "B000000001", "title": NASTY, "description": NASTY, "bullets": (NASTY, " ", "x"),
        "options": {NASTY: (NASTY, "red")}, "prices": (3.0, 4.5), "category": "garden",
        "query": NASTY, "product_category": NASTY, "image": "", "attributes": (NASTY,),
        **changes,
    })  # fmt: skip


def test_rich_text_marks_what_was_clicked():
    product = _product(title="T", options={"size": ("small", 'a "b"')})
    url = "/" + json.dumps({"size": "small"})
    rich = pages.item_page("I", url, product).render("text_rich")
    assert rich.startswith("You have clicked small.\nInstruction:\n")
    assert "  [clicked button] small [clicked button_]\n" in rich
    results = pages.results_page("I", "", 1, 1, [product])
    assert "[clicked button] B000000001" in results.render("text_rich", {"B000000001"})


def test_the_purchase_is_shown_safely():
    page = pages.done_page("", "B1", {"size": "<1' & é"}, 0.5)
    assert '{"size": "\\u003c1\\u0027 \\u0026 \\u00e9"}' in page.render("text")


def test_numbers_choose_goals_and_names_keep_them(shop):
    sessions = Sessions(shop)
    assert sessions.reset(7).goal == shop.goals[7]
    named = sessions.reset("someone")
    named.step("search[tea]")
    again = sessions.reset("someone")
    assert again.goal == named.goal
    assert again.page.search_bar
    assert again.details == {}
    for wrong in (-1, len(shop.goals)):
        with pytest.raises(UserError, match=f"0 to {len(shop.goals) - 1}"):
            sessions.reset(wrong)


def test_sessions_are_bounded_and_the_forgotten_are_not_mistaken(shop):
    sessions = Sessions(shop, limit=3)
    goals = {name: sessions.reset(name).goal for name in "abc"}
    assert sessions.reset("a").goal is goals["a"]
    sessions.reset("d")  # in the place of b, which is unused for longest
    assert sessions.reset("c").goal is goals["c"]
    assert sessions.reset("a").goal is goals["a"]
    assert sessions.reset("b").goal != goals["b"]
    sessions.forget("a")
    assert sessions.reset("a").goal != goals["a"]
    with pytest.raises(UserError, match="limit"):
        Sessions(shop, limit=0)


def test_many_sessions_at_once_see_what_they_would_see_alone(shop):
    sessions = Sessions(shop)
    moves = ["search[canvas backpack]", "click[next >]", "click[< prev]", "search[herbal tea]"]

    def play(session):
        texts = []
        for move in moves:
            session.step(move)
            texts.append(session.observe())
        return texts

    alone = [play(new_session(shop, goal)) for goal in range(40)]
    seen: dict[int, list[str]] = {}
    threads = [
        Thread(target=lambda goal=goal: seen.update({goal: play(sessions.reset(goal))}))
        for goal in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [seen[goal] for goal in range(40)] == alone
