"""Goals, their order, their prices, and the built-in shop that they come from."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentquest.benchmarks.webshop.catalogue.builtin import official_files
from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.shop import goals as goals_module
from agentquest.benchmarks.webshop.shop.goals import make_goals
from agentquest.benchmarks.webshop.shop.prices import NO_LIMIT, price_limit
from agentquest.benchmarks.webshop.tasks import SPLITS
from agentquest.errors import ConfigError, DataError

KINDS = ["synthetic", "human"]


@settings(deadline=None)
@given(st.floats(0, 2000), st.integers())
def test_a_limit_is_two_to_four_steps_above_the_price(price, seed):
    upper, text = price_limit(price, random.Random(seed))
    steps = [step for step in range(10, 1000, 10) if step > price]
    if len(steps) < 2:
        assert (upper, text) == (NO_LIMIT, "")
    else:
        assert upper in steps[1:4]
        assert text == f", and price lower than {upper:.2f} dollars"


def test_the_built_in_shop_is_varied_and_always_the_same(catalogue):
    assert official_files() == official_files()
    products = [catalogue.product(number) for number in range(len(catalogue))]
    assert len(products) == 1000
    assert {p.category for p in products} == {
        "beauty", "electronics", "fashion", "garden", "grocery"
    }  # fmt: skip
    assert len({p.title for p in products}) > 950
    assert len({p.query for p in products}) == 40
    assert any(len(p.prices) == 2 for p in products)
    assert any(not p.options for p in products)


def test_there_are_built_in_goals_for_every_split(catalogue):
    human = make_goals(catalogue, "human", 0, False)
    for first, last in SPLITS.values():
        assert len(human[first:last]) >= min(500, (last or len(human)) - first) > 0
    assert len(human) > SPLITS["train"][0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strict", [True, False])
def test_a_seed_fixes_every_goal(catalogue, kind, strict):
    first, again, other = (make_goals(catalogue, kind, seed, strict) for seed in (3, 3, 4))
    assert list(first) == list(again)
    assert list(first) != list(other)
    assert [goal.asin for goal in first] == [goal.asin for goal in other]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_task_has_the_same_instruction_in_every_catalogue(tmp_path, catalogue, kind):
    for name, content in official_files().items():
        (tmp_path / name).write_bytes(content)
    smaller = open_catalogue(tmp_path, num_products=150, cache=tmp_path / "cache")
    texts = {goal.instruction_text for goal in make_goals(catalogue, kind, 0, False)}
    few = make_goals(smaller, kind, 0, False)
    assert {goal.instruction_text for goal in few} <= texts
    strict = make_goals(smaller, kind, 0, True)
    assert not {goal.instruction_text for goal in strict} <= texts


@pytest.mark.parametrize("kind", KINDS)
def test_every_goal_fits_its_own_product(catalogue, kind):
    goals = make_goals(catalogue, kind, 0, False)
    for goal in goals:
        number = catalogue.number(goal.asin)
        product = catalogue.product(number)
        assert goals.prices.price(number) < goal.price_upper
        assert set(goal.attributes) <= set(product.attributes)
        values = {value for group in product.options.values() for value in group}
        options = goal.goal_options
        assert set(options.values() if kind == "synthetic" else options) <= values


def test_each_combination_of_options_is_one_goal(catalogue):
    goals = make_goals(catalogue, "synthetic", 0, False)
    seen = {(goal.asin, tuple(goal.goal_options.items())) for goal in goals}
    assert len(seen) == len(goals) == int(catalogue.goal_counts.sum())


def test_drawing_follows_the_weights(catalogue):
    goals = make_goals(catalogue, "synthetic", 0, False)
    rng = random.Random(1)
    drawn = [goals.draw(rng) for _ in range(2000)]
    assert 0 not in drawn  # as in the original
    assert max(drawn) < len(goals)
    heavy = sum(goals[i - 1].weight for i in drawn) / len(drawn)  # off by one, like the original
    assert heavy > sum(goal.weight for goal in goals) / len(goals)


def test_indices_behave_like_a_list(catalogue):
    goals = make_goals(catalogue, "human", 0, False)
    assert goals[-1] == goals[len(goals) - 1]
    assert goals[2:4] == [goals[2], goals[3]]
    with pytest.raises(IndexError):
        goals[len(goals)]


def test_wrong_kinds_and_data_without_goals_are_refused(catalogue, tmp_path):
    with pytest.raises(ConfigError, match="synthetic, human"):
        make_goals(catalogue, "robot", 0, False)
    for name, content in official_files().items():
        (tmp_path / name).write_bytes(b"{}" if "ins" in name else content)
    bare = open_catalogue(tmp_path, cache=tmp_path / "cache")
    with pytest.raises(DataError, match="none has a human goal"):
        make_goals(bare, "human", 0, False)
    with pytest.raises(DataError, match="none has a synthetic goal"):
        make_goals(bare, "synthetic", 0, False)
    with pytest.raises(DataError, match=r"BQ0000.* not in the instructions file"):
        make_goals(bare, "synthetic", 0, True)


def test_more_goals_than_can_be_ordered_are_refused(catalogue, monkeypatch):
    monkeypatch.setattr(goals_module, "MOST_GOALS", 1000)
    with pytest.raises(DataError, match=r"options make 4,423 goals, more than 1,000"):
        make_goals(catalogue, "synthetic", 0, False)


def test_a_long_order_is_kept_and_is_the_same(tmp_path, monkeypatch):
    fresh, state = goals_module.shuffle_goals(5000, tmp_path)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(goals_module, "WORTH_KEEPING", 10)
    goals_module.shuffle_goals(5000, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["order-5000.npz"]
    kept, kept_state = goals_module.shuffle_goals(5000, tmp_path)
    assert kept.tolist() == fresh.tolist()
    first, second = random.Random(), random.Random()
    first.setstate(state)
    second.setstate(kept_state)
    assert first.random() == second.random()
    goals_module.shuffle_goals(5000, tmp_path / "nowhere")  # cannot be kept there, and need not be
