"""The original's HTML: addresses, markup, and lists and dictionaries in addresses.

On the 1,000 official products, 8,541 pages were compared byte for byte with what the
original's templates give in Flask 2.1.2 and Werkzeug 2.2.2, without a difference. The
templates are not ours to keep; a digest over pages of the built-in shop says that
nothing has moved since.
"""

import ast
import contextlib
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.benchmarks.webshop.original.html import (
    Frame,
    completion_code,
    done_page,
    item_page,
    search_page,
)
from agentquest.benchmarks.webshop.original.links import (
    environment_address,
    read_dict,
    read_list,
    site_address,
)
from agentquest.benchmarks.webshop.shop.shop import Shop, ShoppingSession
from growth import MOST, growth, repeated
from webshop_html import Reader

PAGES = "32157a6f62a1432290983cc8f26957d70a250e60a8e339c314bb0eed649f5c96"
NASTY = "~-._/:;%#?@!$()*,[]{}|\\^`<>"


def walk(shop, number):
    """All kinds of pages of one goal, as HTML."""
    session = ShoppingSession(shop, str(number), shop.goals[number], "0")
    goal = session.goal
    yield session.observe("html")
    for action in (f"search[{goal.name}]", "click[next >]", "click[< prev]"):
        session.step(action)
        yield session.observe("html")
    session.asin = goal.asin
    session.page = session._item_page()
    yield session.observe("html")
    for value in (*goal.goal_options.values(), "description", "< prev", "features", "< prev"):
        session.step(f"click[{value}]")
        yield session.observe("html")
    for action in ("reviews", "< prev", "attributes", "< prev", "buy now"):
        session.step(f"click[{action}]")
        yield session.observe("html")


@pytest.fixture(scope="module")
def attribute_shop(catalogue):
    return Shop(catalogue, show_attributes=True)


def test_no_byte_of_the_pages_has_moved(attribute_shop):
    digest = hashlib.sha256()
    for number in range(0, 400, 20):
        for html in walk(attribute_shop, number):
            digest.update(html.encode().partition(b"Your score")[0])
    assert digest.hexdigest() == PAGES


def test_pages_have_what_scrapers_look_for(attribute_shop):
    pages = [Reader(html).tags for html in walk(attribute_shop, 7)]
    ids = [{given["id"] for _, given in page if "id" in given} for page in pages]
    assert {"search_input", "instruction-text", "form-buscar"} <= ids[0]
    assert all("instruction-text" in each for each in ids[:-1])
    results = pages[1]
    links = [given for tag, given in results if given.get("class") == "product-link"]
    assert len(links) == 10
    assert all(given["href"].startswith("/?session_id=7&asin=") for given in links)
    item = pages[4]
    radios = [given for tag, given in item if given.get("type") == "radio"]
    assert {"name", "value", "data-url"} <= set(radios[0])
    labels = [given["for"] for tag, given in item if tag == "label"]
    assert labels == [given["id"] for given in radios]
    assert {"product-image", "reward", "thankyou", "goal-asin"} & (ids[4] | ids[-1])


def test_addresses_of_the_environment_are_queries():
    assert Frame(environment_address, "5", "").index == "/?session_id=5"
    assert Frame(environment_address, "a b/é", "", ["men's", "", 'x"&=+']).results(2) == (
        "/?session_id=a+b%2F%C3%A9&keywords=men's&keywords=&keywords=x%22%26%3D%2B&page=2"
    )
    assert Frame(environment_address, "s", "", [NASTY]).results(1) == (
        "/?session_id=s&keywords=~-._%2F%3A;%25%23%3F%40!$()*,%5B%5D%7B%7D%7C%5C%5E%60%3C%3E&page=1"
    )
    search = {"session_id": "5", "asin": "B0", "keywords": ["x"], "page": 1}
    part = {"sub_page": "Features", "options": {"a": "it's"}}
    assert environment_address("item_sub_page", **search, **part) == (
        "/?session_id=5&asin=B0&keywords=x&page=1&sub_page=Features&options=%7B'a'%3A+%22it's%22%7D"
    )
    bought = {"session_id": "5", "asin": "B0", "options": {}}
    assert environment_address("done", **bought) == "/?session_id=5&asin=B0&options=%7B%7D"


def test_addresses_of_the_site_are_paths():
    assert Frame(site_address, "a b", "").index == "/a%20b"
    assert (
        Frame(site_address, "s", "", ["red", ""]).results(2)
        == "/search_results/s/%5B'red',%20''%5D/2"
    )
    assert Frame(site_address, "s", "", NASTY).results(1) == (
        "/search_results/s/~-._/:;%25%23%3F%40!$()*,%5B%5D%7B%7D%7C%5C%5E%60%3C%3E/1"
    )
    options = {"color": "it's", "size": 'é "q"'}
    search = {"session_id": "5", "asin": "B0", "keywords": "plain text", "page": "1"}
    assert site_address("item_page", **search, options=options) == (
        "/item_page/5/B0/plain%20text/1/%7B'color':%20%22it's%22,%20'size':%20'%C3%A9%20%22q%22'%7D"
    )
    bought = {"session_id": "5", "asin": "B0", "options": {}}
    assert site_address("done", **bought) == "/done/5/B0/%7B%7D"


def test_half_a_surrogate_pair_breaks_no_page(attribute_shop):
    frame = Frame(site_address, "\ud800", "i want \ud800", ["\ud800"], 1)
    search_page(frame)
    product = attribute_shop.catalogue.product(0)
    item_page(frame, product, {"size": "\ud800"})
    done_page(product.asin, {"size": "\ud800"}, 0.0)
    assert len(completion_code("\ud800")) == 10


texts = st.text(max_size=12) | st.sampled_from(["it's", 'a "b"', "\\", "\n", "\x00", "é\u202f", ""])
writable = texts.filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text))


@given(st.lists(writable, max_size=5))
def test_lists_are_read_as_python_writes_them(words):
    assert read_list(str(words)) == words


@given(st.dictionaries(writable, writable, max_size=4))
def test_dictionaries_are_read_as_python_writes_them(options):
    assert read_dict(str(options)) == options


@given(st.text("[]{}'\",: \\nxu0a", max_size=14))
def test_what_is_read_is_what_python_would_read_or_refused(text):
    for reader, kind in ((read_list, list), (read_dict, dict)):
        try:
            ours = reader(text)
        except ValueError:
            continue
        theirs = ast.literal_eval(text.strip())
        assert isinstance(theirs, kind)
        assert ours == theirs


@pytest.mark.parametrize(
    "text", ["", "[", "]", "['a'", "['a' 'b']", "[1]", "['a', ['b']]", "[a]", "{'a'}", "('a',)"]
)
def test_anything_else_is_refused(text):
    for reader in (read_list, read_dict):
        with pytest.raises(ValueError, match="expected"):
            reader(text)


@pytest.mark.parametrize("unit", ["'", "\\", "'a',", "\\'", "[", '"', " ", "'a':"])
@pytest.mark.parametrize(("reader", "around"), [(read_list, "[]"), (read_dict, "{}")])
def test_reading_costs_no_more_than_the_text_is_long(reader, around, unit):
    def read(text):
        with contextlib.suppress(ValueError):
            reader(text)

    assert growth(read, repeated(unit, around[0], around[1])) < MOST
