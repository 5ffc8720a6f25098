"""Product text with HTML and scripts in it stays text, on every page and in every form."""

from urllib.parse import quote

import pytest
from hostile_shop import IMAGE, QUOTES, SCRIPT, write_hostile_shop
from serving_process import ServerProcess, post, send
from site_visitor import Page, Visitor

from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.shop.shop import Shop, ShoppingSession
from agentquest.store.folder import RunFolder
from webshop_html import Reader

ELEMENTS = {
    "a", "aside", "body", "br", "button", "caption", "div", "fieldset", "footer", "form", "h1",
    "h2", "head", "header", "html", "input", "label", "legend", "li", "link", "main", "meta",
    "meter", "nav", "ol", "p", "span", "strong", "table", "tbody", "td", "th", "title", "tr", "ul",
}  # fmt: skip
ADDRESSES = ("/", "#")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return write_hostile_shop(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def hostile_server(hostile, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    options = ("--site", "--site-port", "0", "--data", str(hostile), "--goals", "human")
    with ServerProcess(folder, folder / "cache", *options) as process:
        yield process


def check(page: Page) -> Page:
    """Only elements and attributes of our own making."""
    assert page.status in (200, 422)
    for tag, attributes in page.elements:
        assert tag in ELEMENTS, tag
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("href", "action"):
                assert value.startswith(ADDRESSES), value
    return page


def walk(visitor, asin):
    """Every kind of page of one product."""
    check(visitor.search("wrench"))
    assert SCRIPT.lower() in visitor.page.text.lower()
    check(visitor.click(asin))
    texts = [visitor.page.text]
    for part in ("description", "features", "reviews"):
        texts.append(check(visitor.click(part)).text)
        check(visitor.click("< prev"))
    return texts


def test_no_page_of_the_site_has_an_element_from_the_data(hostile_server):
    visitor = Visitor(hostile_server.site)
    check(visitor.get("/"))
    check(visitor.start(0, participant=SCRIPT))
    assert SCRIPT in visitor.page.text
    item, description, features, _ = walk(visitor, "<b>0000000")
    assert f"Wrench {SCRIPT}" in item
    assert f"{SCRIPT} description" in description
    assert f"bullet {IMAGE}" in features
    visitor.choose(IMAGE.lower())
    check(visitor.click("features"))
    check(visitor.click("< prev"))
    visitor.choose(QUOTES.lower())
    check(visitor.click("features"))
    check(visitor.click("< prev"))
    check(visitor.get("/give-up"))
    visitor.get("/visit/" + visitor.page.form("/give-up")["turn"])
    check(visitor.click("buy now"))
    assert SCRIPT in visitor.page.text
    (record,) = RunFolder(hostile_server.folder / "runs/webshop-human").records()
    assert SCRIPT in record.first_observation
    assert "\\ud83d" in record.goal
    assert record.details["participant"] == SCRIPT


def test_searching_for_html_shows_it_as_text(hostile_server):
    visitor = Visitor(hostile_server.site)
    visitor.start(1)
    for query in (SCRIPT, IMAGE, QUOTES, '" autofocus onfocus=x "', "</title><script>"):
        page = check(visitor.search(query))
        shown = [a["value"] for tag, a in page.elements if a.get("name") == "query"]
        assert shown == [query.lower()]


def test_what_cannot_be_chosen_is_dead_and_the_rest_is_not(hostile_server):
    visitor = Visitor(hostile_server.site)
    visitor.start(0)
    visitor.search("wrench")
    visitor.click("<b>0000000")
    dead = [choice["value"] for choice in visitor.page.choices if "disabled" in choice]
    assert dead == ["red", "buy now", "reviews"]  # of the first group; two of the page's buttons
    visitor.choose("red")
    visitor.click("features")
    visitor.click("< prev")
    checked = [(c["name"], c["value"]) for c in visitor.page.choices if "checked" in c]
    assert checked == [("option-1", "red")]


def test_no_observation_in_html_has_an_element_from_the_data(hostile, tmp_path):
    shop = Shop(open_catalogue(hostile, cache=tmp_path), goals="human")
    session = ShoppingSession(shop, "x", shop.goals[0], None)
    pages = [session.observe("html")]
    for action in (
        "search[wrench]", "click[<b>0000000]", "click[description]", "click[< prev]",
        "click[features]", "click[< prev]", f"click[{IMAGE.lower()}]", "click[buy now]",
    ):  # fmt: skip
        assert session.step(action).valid, action
        pages.append(session.observe("html"))
    for html in pages:
        check_original(html)


def check_original(html):
    """No element or handler beyond the original's own: it has scripts, but none of the data's."""
    tags = Reader(html).tags
    assert not {tag for tag, _ in tags} & {"svg", "b"}
    assert not [name for _, given in tags for name in given if name.startswith("on")]
    scripts = [given for tag, given in tags if tag == "script"]
    assert len(scripts) in (0, 2, 3)
    assert all("src" in given for given in scripts[:2])
    inline = html.rpartition("<script>")[2].partition("</script>")[0]
    assert not set("<>&") & set(inline.replace("<!DOCTYPE html>", "")) or not scripts[2:]


def test_no_page_of_the_original_site_has_an_element_from_the_data(hostile, tmp_path):
    options = ("--original-pages", "--site-port", "0", "--data", str(hostile))
    with ServerProcess(tmp_path, tmp_path / "cache", *options) as process:
        asin = quote("<B>0000000")
        chosen = quote(str({f"color{QUOTES}".lower(): IMAGE.lower()}))
        for path in (
            "fixed_0", "search_results/fixed_0/wrench/1", f"item_page/fixed_0/{asin}/x/1/{chosen}",
            f"item_sub_page/fixed_0/{asin}/x/1/Features/{chosen}",
            f"item_sub_page/fixed_0/{asin}/x/1/Attributes/{chosen}",
            f"done/fixed_0/{asin}/{chosen}",
            "search_results/fixed_0/" + quote("</script><b>", safe="") + "/1",
        ):  # fmt: skip
            answer = send(f"{process.site}/{path}")
            if answer.status != 404:
                assert answer.status == 200, path
                check_original(answer.body.decode())
                assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_agents_get_the_text_as_it_is(hostile_server):
    post(f"{hostile_server.url}/reset", {"session": 0})
    answer = post(f"{hostile_server.url}/step", {"session": 0, "action": "search[wrench]"})
    assert f"Wrench {SCRIPT}" in answer.json["obs"]
    assert answer.body.isascii()
