"""Oracle and rule-based shopper, held against what the shop itself says."""

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from agentquest.benchmarks.webshop.benchmark import WebshopBenchmark, WebshopTaskDriver
from agentquest.benchmarks.webshop.explorer import (
    WebshopExplorer,
    choose_value,
    read_page,
    read_wish,
)
from agentquest.benchmarks.webshop.oracle import best_purchase
from agentquest.benchmarks.webshop.shop.goals import Goal
from agentquest.benchmarks.webshop.shop.pages import Kind, item_page
from agentquest.benchmarks.webshop.shop.shop import Shop
from shared_data import WEBSHOP, needs_webshop

STEPS = 15


@pytest.fixture(scope="module", autouse=True)
def _cache(cache: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTQUEST_CACHE", str(cache))
        yield


def built_in(**settings: object) -> WebshopBenchmark:
    return WebshopBenchmark(data_path="builtin", **settings)  # type: ignore[arg-type]


def follow_oracle(driver: WebshopTaskDriver, limit: int = 30) -> int:
    """Play the oracle's plan to its end; each step must be one shorter than the last."""
    plan = driver.oracle_actions()
    for step in range(limit):
        if driver.outcome.done:
            return step
        assert driver.accepts(plan[0])
        driver.step(driver.action_class(value=plan[0]))
        after = driver.oracle_actions()
        assert after == plan[1:]
        plan = after
    raise AssertionError(f"no purchase in {limit} steps")


@pytest.mark.parametrize("goals", ["synthetic", "human"])
@pytest.mark.parametrize("strict", [False, True])
def test_the_oracle_wins_every_built_in_test_goal(goals: str, strict: bool) -> None:
    benchmark = built_in(goals=goals, strict=strict)
    for task in benchmark.tasks():
        driver = benchmark.driver(task)
        driver.reset()
        assert follow_oracle(driver) <= 6
        assert driver.outcome.success, task.id
        assert driver.oracle_actions() == []


@pytest.mark.parametrize("seed", range(30))
def test_the_oracle_wins_from_wherever_a_shopper_has_strayed(seed: int) -> None:
    benchmark = built_in()
    rng = random.Random(seed)
    driver = benchmark.driver(rng.choice(benchmark.tasks()))
    observation = driver.reset()
    for _ in range(rng.randrange(12)):
        commands = [c for c in observation.admissible if c != "click[buy now]"]
        chosen = rng.choice(commands).replace("<query>", "soft blue shoes")
        observation = driver.step(driver.action_class(value=chosen))
    if rng.random() < 0.3:
        driver.step(driver.action_class(value="search[<r>]"))
    follow_oracle(driver)
    assert driver.outcome.success


def every_reward(shop: Shop, goal: Goal) -> float:
    """The best reward by brute force: each product with each combination of options."""
    best = 0.0
    for number in range(len(shop.catalogue)):
        item = shop.catalogue.product(number)
        groups: dict[str, list[str | None]] = {}
        for value, piece in item_page("", "", item).clickables.items():
            if piece.kind is Kind.OPTION:
                groups.setdefault(piece.group, [None]).append(value)
        for combination in product(*groups.values()):
            chosen = zip(groups, combination, strict=True)
            options = {group: value for group, value in chosen if value is not None}
            best = max(best, shop.reward(item.asin, options, goal).value)
            if best == 1.0:
                return best
    return best


@pytest.mark.parametrize("number", [0, 7])
def test_no_purchase_at_all_beats_the_oracle(shop: Shop, number: int) -> None:
    """A wish that no option and no product meets leaves the oracle with the best there is."""
    goal = shop.goals[number]
    hard = Goal(**{**goal.as_dict(), "goal_options": ("no such thing at all",)})
    assert best_purchase(shop, hard).reward == every_reward(shop, hard) < 1.0
    assert best_purchase(shop, goal).reward == every_reward(shop, goal) == 1.0


@needs_webshop
def test_the_oracle_on_official_goals() -> None:
    """Of these 500 goals 20 cannot be won by any purchase; see docs/webshop.md."""
    benchmark = WebshopBenchmark(data_path=WEBSHOP / "data")
    won = [
        best_purchase(benchmark.shop, benchmark.shop.goals[number]).reward == 1.0
        for number in range(500)
    ]
    assert sum(won) == 480


def shop_by_rules(driver: WebshopTaskDriver) -> float:
    explorer = WebshopExplorer()
    observation = driver.reset()
    for _ in range(STEPS):
        action = explorer.next_action(observation.text)
        assert explorer.thought
        assert driver.accepts(action), action
        observation = driver.step(driver.action_class(value=action))
        if driver.outcome.done:
            break
    return driver.outcome.reward


@pytest.mark.parametrize("goals", ["synthetic", "human"])
def test_the_rule_based_shopper_buys_in_time_and_well(goals: str) -> None:
    benchmark = built_in(goals=goals)
    rewards = []
    for task in benchmark.tasks()[:200]:
        driver = benchmark.driver(task)
        rewards.append(shop_by_rules(driver))
        assert driver.outcome.done, "it buys within the limit of published runs"
    assert sum(rewards) / len(rewards) > 0.9
    assert sum(reward == 1.0 for reward in rewards) / len(rewards) > 0.6


def test_one_shopper_can_do_one_errand_after_another() -> None:
    benchmark = built_in()
    explorer = WebshopExplorer()
    for task in benchmark.tasks()[:5]:
        again = []
        for player in (explorer, WebshopExplorer()):
            driver = benchmark.driver(task)
            observation = driver.reset()
            while not driver.outcome.done and len(driver.metrics.interactions) < STEPS:
                action = player.next_action(observation.text)
                observation = driver.step(driver.action_class(value=action))
            again.append(driver.metrics.action_values)
        assert again[0] == again[1]


@pytest.mark.parametrize(
    "text", ["", "Nothing happens.", "Valid actions: click[x]", " [SEP] ", "WebShop", "< Prev"]
)
def test_text_that_is_no_page_is_answered_with_a_search(text: str) -> None:
    assert WebshopExplorer().next_action(text).startswith("search[")


def test_a_wish_is_taken_apart() -> None:
    wish = read_wish(
        "Find me light weight tents with steel frame with color: dark green, and size: 2 x 3 m,"
        " and price lower than 70.00 dollars"
    )
    assert (wish.limit, wish.options) == (70.0, 2)
    assert wish.query == "light weight tents steel frame color dark green size 2 x 3 m"
    assert choose_value(wish, "color", ["green", "dark green", "red"]) == "dark green"
    assert choose_value(wish, "size", ["3 m", "2 x 3 m"]) == "2 x 3 m"
    assert choose_value(wish, "style", ["round", "square"]) is None
    spoken = read_wish("i am looking for a green tent that sleeps two")
    assert spoken.limit == float("inf")
    assert choose_value(spoken, "color", ["red", "green"]) == "green"


def test_options_are_read_with_their_groups() -> None:
    texts = "Instruction:|a wish|Back to Search|< Prev|odd group|one|two|size|small|large|A Title"
    page = read_page(f"{texts}|Price: $3.5|Rating: N.A.|Buy Now".replace("|", " [SEP] "))
    assert page.option_values() == {"odd group": ["one", "two"], "size": ["small", "large"]}
