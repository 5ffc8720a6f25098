"""Prices, goals, pages and whole episodes against recordings of the original."""

import random

import pytest

from agentquest.benchmarks.webshop.shop.sessions import Sessions
from agentquest.benchmarks.webshop.shop.shop import Shop, pages
from shared_data import needs_webshop

pytestmark = needs_webshop

SEED = 20240
DRAWN_SEED, FIRST_DRAWN, LAST_DRAWN = 99, 190, 199


@pytest.fixture(scope="module")
def strict_shop(catalogue, recorded_nouns):
    return Shop(catalogue, seed=SEED, strict=True, nouns=recorded_nouns)


def test_prices_and_goals_are_those_of_the_seeded_original(strict_shop, catalogue, recordings):
    state = recordings("server_state_seed20240.json.gz")
    assert state["seed"] == SEED
    for asin, price in state["product_prices"].items():
        assert strict_shop.goals.prices.price(catalogue.number(asin)) == price, asin
    assert [goal.as_dict() for goal in strict_shop.goals] == state["goals"]


def test_all_pages_of_all_products(catalogue, recordings):
    recorded = recordings("pages_text.json.gz")
    assert len(recorded) == len(catalogue)
    for asin, texts in recorded.items():
        product = catalogue.product(catalogue.number(asin))
        assert set(texts) == {"item", *pages.SUB_PAGES}
        assert pages.item_page("INSTR", "", product).render("text") == texts["item"]
        for name in pages.SUB_PAGES:
            page = pages.sub_page("INSTR", "", product, name)
            assert page.render("text") == texts[name], (asin, name)


def _seen(session):
    return {
        "obs": session.observe(),
        "obs_rich": session.observe("text_rich"),
        "url": session.observe("url"),
        "has_search_bar": session.page.search_bar,
        "clickables": session.clickables,
    }


def _started(sessions, episode, drawn):
    """The session of an episode; those without a number were drawn one after another."""
    if episode["session"] is not None:
        return sessions.reset(episode["session"])
    return drawn[episode["episode"]]


def test_every_recorded_episode_replays(strict_shop, recordings):
    sessions = Sessions(strict_shop)
    sessions.rng = random.Random(DRAWN_SEED)
    drawn = {number: sessions.reset() for number in range(FIRST_DRAWN, LAST_DRAWN + 1)}
    steps = 0
    for episode in recordings("episodes_text_1k.jsonl.gz"):
        where = f"episode {episode['episode']}"
        session = _started(sessions, episode, drawn)
        assert session.goal.as_dict() == episode["goal"], where
        assert _seen(session) == episode["reset"], where
        for recorded in episode["steps"]:
            step = session.step(recorded["action"])
            if "exception" in recorded:  # the original breaks down here; we change nothing
                assert not step.valid
                continue
            steps += 1
            expected = {key: recorded[key] for key in _seen(session)}
            assert _seen(session) == expected, (where, recorded["action"])
            assert (step.reward, step.done) == (recorded["reward"], recorded["done"]), where
            assert type(step.reward) is type(recorded["reward"])
        _check_purchase(session, episode["final"], where)
    assert steps > 1000


def _check_purchase(session, final, where):
    if not final or not final.get("verbose_info"):
        return
    assert session.bought == final["purchased_asin"], where
    for key, value in final["verbose_info"].items():
        assert session.details[key] == value, (where, key)


def test_purchases_get_the_recorded_reward_with_our_own_tagger_too(catalogue, recordings):
    """No proof that the taggers agree, but none of these scores may move unnoticed."""
    shop = Shop(catalogue, seed=SEED, strict=True)
    for episode in recordings("episodes_text_1k.jsonl.gz"):
        final = episode["final"]
        if final and final.get("verbose_info") and isinstance(episode["session"], int):
            goal = shop.goals[episode["session"]]
            reward = shop.reward(final["purchased_asin"], final["options"], goal)
            assert reward.value == final["reward"], episode["episode"]


@pytest.mark.parametrize("strict", [True, False])
def test_resets_follow_the_sequence_of_the_original_server(catalogue, recordings, strict):
    shop = Shop(catalogue, strict=strict, seed=5)
    sessions = Sessions(shop)
    for draw in recordings("agentquest_reset_sequence.json")["draws"]:
        if draw["draw"] == 0:  # spent by the original while it starts
            continue
        session = sessions.reset()
        assert session.id == draw["session"]
        assert session.goal.asin == draw["asin"]
        assert session.goal.goal_options == draw["goal_options"]
