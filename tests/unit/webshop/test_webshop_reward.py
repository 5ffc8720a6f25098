"""Rewards on small cases whose value can be worked out by hand."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentquest.benchmarks.webshop.catalogue.products import Product
from agentquest.benchmarks.webshop.shop.goals import Goal
from agentquest.benchmarks.webshop.shop.nouns import BUILT_IN, TitleNouns
from agentquest.benchmarks.webshop.shop.reward import COLOURS, alike, normalize_color, score

NOUNS = TitleNouns()
PRODUCT = Product(
    asin="B000000001",
    title="Tarnwell Canvas Backpack with Laptop Sleeve",
    description="Made for wet days.",
    bullets=("Water resistant cloth", "Padded straps"),
    options={"color": ("navy", "olive green"), "size": ("small", "large")},
    prices=(40.0,),
    category="fashion",
    query="backpacks",
    product_category="Bags › Travel › Backpacks",
    image="",
    attributes=("light weight", "zipper closure"),
)
GOAL = Goal(
    asin=PRODUCT.asin,
    category=PRODUCT.category,
    query=PRODUCT.query,
    name=PRODUCT.title,
    product_category=PRODUCT.product_category,
    instruction_text="",
    attributes=("light weight", "water resistant"),
    price_upper=50.0,
    goal_options=("navy", "large"),
    weight=1,
)
RIGHT = {"color": "navy", "size": "large"}


def test_the_right_purchase_earns_everything():
    reward = score(PRODUCT, 40.0, RIGHT, GOAL, NOUNS)
    assert reward.value == 1.0
    assert reward.details["met_attributes"] == ["light weight", "water resistant"]
    assert reward.details["met_options"] == ["navy", "large"]
    assert reward.details["nouns"] == BUILT_IN


@pytest.mark.parametrize(
    ("price", "options", "goal", "value"),
    [
        (51.0, RIGHT, GOAL, 4 / 5),
        (40.0, {}, GOAL, 3 / 5),
        (40.0, {"color": "navy"}, GOAL, 4 / 5),
        (40.0, RIGHT, replace(GOAL, attributes=("light weight", "steel toe")), 4 / 5),
        (40.0, RIGHT, replace(GOAL, goal_options=()), 1.0),
        (60.0, {}, replace(GOAL, attributes=("steel toe",)), 0.0),
    ],
)
def test_each_part_counts_once(price, options, goal, value):
    assert score(PRODUCT, price, options, goal, NOUNS).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("title", "same_place", "r_type"),
    [
        ("Tarnwell Canvas Backpack", False, 1.0),  # 3 of 5 nouns
        ("Backpack for Dogs", True, 1.0),  # 1 of 5, but of the same kind
        ("Backpack for Dogs", False, 0.5),  # 1 of 5 is not more than 0.2
        ("Ceramic Planter", True, 0.0),
    ],
)
def test_the_kind_of_product(title, same_place, r_type):
    place = {} if same_place else {"query": "dog beds", "product_category": "Pets"}
    bought = replace(PRODUCT, title=title, **place)
    assert score(bought, 40.0, RIGHT, GOAL, NOUNS).details["r_type"] == r_type


def test_few_common_nouns_among_many_give_a_tenth():
    goal = replace(GOAL, name="Backpack " + " ".join(f"Word{c}" for c in "ABCDEFGHIJK"))
    bought = replace(PRODUCT, title="Backpack")
    assert score(bought, 40.0, RIGHT, goal, NOUNS).details["r_type"] == 0.1


def test_synthetic_options_are_compared_with_their_names():
    goal = replace(GOAL, goal_options={"color": "navy", "size": "large"})
    assert score(PRODUCT, 40.0, RIGHT, goal, NOUNS).value == 1.0
    wrong = {"color": "olive green", "size": "small"}
    assert score(PRODUCT, 40.0, wrong, goal, NOUNS).details["r_option"] == 0.0


def test_colours_stand_for_the_texts_that_hold_them():
    assert len(COLOURS) == len(set(COLOURS)) == 102
    assert normalize_color("dark blue 2") == "blue"  # the list's order decides, not the text's
    assert normalize_color("plaid") == "plaid"
    assert normalize_color(("color", "navy blue")) == ("color", "navy blue")
    assert normalize_color(("color", "navy")) == "navy"


@settings(deadline=None)
@given(st.text(), st.text())
def test_any_texts_can_be_compared(first, second):
    assert alike(first, second) == alike(second, first)
