"""The html observation against the recordings: these hold text, so its text is compared.

The original made its text from its HTML. Read in the same way, ours gives the same
on every page that was recorded: texts, buttons, labels and links, in this order and
with these blanks. What no text shows (addresses, classes, ids, scripts) is not
recorded and is checked in `unit/webshop/test_webshop_original_html.py`.
"""

import random

import pytest

from agentquest.benchmarks.webshop.shop.sessions import Sessions
from agentquest.benchmarks.webshop.shop.shop import Shop, ShoppingSession, pages
from shared_data import needs_webshop
from webshop_html import rich_text_of, text_of

pytestmark = needs_webshop

DRAWN_SEED, FIRST_DRAWN, LAST_DRAWN = 99, 190, 199


@pytest.fixture(scope="module")
def strict_shop(catalogue, recorded_nouns):
    return Shop(catalogue, seed=20240, strict=True, nouns=recorded_nouns)


def test_every_recorded_text_comes_out_of_our_html(strict_shop, recordings):
    sessions = Sessions(strict_shop)
    sessions.rng = random.Random(DRAWN_SEED)
    drawn = {number: sessions.reset() for number in range(FIRST_DRAWN, LAST_DRAWN + 1)}
    seen = 0
    for episode in recordings("episodes_text_1k.jsonl.gz"):
        number = episode["session"]
        session = drawn[episode["episode"]] if number is None else sessions.reset(number)
        assert text_of(session.observe("html")) == episode["reset"]["obs"]
        for step in episode["steps"]:
            session.step(step["action"])
            if "exception" in step:
                continue
            html = session.observe("html")
            assert text_of(html) == step["obs"], (episode["episode"], step["action"])
            rich = rich_text_of(html, step["url"], session.visited)
            assert rich == step["obs_rich"], (episode["episode"], step["action"])
            seen += 1
    assert seen > 1000


def test_every_product_has_its_recorded_pages_in_html(catalogue, recordings):
    """With the option that shows attributes, whose button the recorded pages lack."""
    shop = Shop(catalogue, seed=20240, strict=True)
    for asin, texts in recordings("pages_text.json.gz").items():
        session = ShoppingSession(shop, "0", shop.goals[0], "0")
        session.asin = asin
        for name, recorded in texts.items():
            part = session._item_page() if name == "item" else session._sub_page(name)
            session.page = part
            shown = text_of(session.observe("html")).replace(session.instruction, "INSTR", 1)
            assert shown == recorded, (asin, name)
    assert set(texts) == {"item", *pages.SUB_PAGES}
