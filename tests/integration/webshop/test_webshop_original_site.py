"""The original's routes and pages, read by a scraper that was made for them."""

import hashlib
import re
import subprocess
import sys
from urllib.parse import quote, unquote

import pytest
from react_scraper import Scraper
from serving_process import START, ServerProcess, send

from agentquest.benchmarks.webshop.oracle import best_purchase
from agentquest.benchmarks.webshop.shop.shop import Shop, ShoppingSession
from webshop_html import Reader, text_of


@pytest.fixture(scope="module")
def human_shop(shop):
    return Shop(shop.catalogue, goals="human")


@pytest.fixture(scope="module")
def site(shop, cache, tmp_path_factory):
    options = ("--original-pages", "--site-port", "0")
    with ServerProcess(tmp_path_factory.mktemp("original"), cache, *options) as process:
        yield process.site


def test_a_scraper_of_the_original_shops_and_is_scored(site, human_shop):
    solved = 0
    for number in range(12):
        goal = human_shop.goals[number]
        purchase = best_purchase(human_shop, goal)
        scraper = Scraper(site, f"fixed_{number}")
        assert "WebShop\nInstruction: \n" in scraper.observation
        assert goal.instruction_text in scraper.observation
        scraper.search(human_shop.catalogue.product(purchase.number).title.replace("/", " "))
        assert "[Back to Search]\nPage 1 (Total results: " in scraper.observation
        if purchase.asin not in scraper.asins:
            continue
        scraper.open(purchase.asin)
        for group, value in purchase.options:
            assert scraper.groups[value] == group
            assert f"[[{value}]]" in scraper.choose(value)
        reward = human_shop.reward(purchase.asin, dict(purchase.options), goal).value
        assert scraper.buy() == reward
        solved += 1
    assert solved > 6


def test_pages_have_the_text_that_agents_get(site, human_shop):
    goal = human_shop.goals[3]
    session = ShoppingSession(human_shop, "fixed_3", goal, "0")
    assert text_of(send(f"{site}/fixed_3").body.decode()) == session.observe()
    session.step("search[red lamp]")
    page = send(f"{site}/search_results/fixed_3/red lamp/1".replace(" ", "%20"))
    assert text_of(page.body.decode()) == session.observe()
    asin = session.clickables[2]
    session.step(f"click[{asin}]")
    where = f"fixed_3/{asin.upper()}/lamp/1"
    page = send(f"{site}/item_page/{where}/%7B%7D").body.decode()
    assert text_of(page) == session.observe()
    for name in ("Description", "Features", "Reviews"):
        session.step(f"click[{name.lower()}]")
        page = send(f"{site}/item_sub_page/{where}/{name}/%7B%7D").body.decode()
        assert text_of(page) == session.observe()
        session.step("click[< prev]")


def links(html):
    """Where a page leads: forms and products."""
    tags = Reader(html).tags
    return [given.get("action") or given["href"] for tag, given in tags if tag in ("form", "a")]


def test_every_link_of_every_page_leads_somewhere(site):
    """As a browser follows them: forms by POST, products by GET, options by their address."""
    seen, todo = set(), ["/fixed_5"]
    search = send(f"{site}/fixed_5", b"search_query=Soft+Cotton", method="POST")
    assert search.status == 200
    todo.append("/search_results/fixed_5/%5B'soft',%20'cotton'%5D/1")
    while todo and len(seen) < 60:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        answer = send(f"{site}{path}", b"", method="POST")
        assert answer.status == 200, path
        html = answer.body.decode()
        todo += links(html)[:6]
        todo += re.findall(r'data-url="([^"]+)"', html.replace("&#39;", "'"))[:2]
    assert {path.split("/")[1] for path in seen} >= {"item_page", "item_sub_page", "done"}


def test_the_address_holds_what_a_page_depends_on(site, human_shop):
    """A list of words, a plain text, options in either quotes: all are read."""
    forms = ("%5B'soft',%20'cotton'%5D", "%5B%22soft%22,%22cotton%22%5D", "soft%20cotton")
    send(f"{site}/fixed_6")
    found = {tuple(_asins(send(f"{site}/search_results/fixed_6/{f}/1").body)) for f in forms}
    assert len(found) == 1
    (asins,) = found
    assert len(asins) == 10
    second = _asins(send(f"{site}/search_results/fixed_6/soft%20cotton/2").body)
    assert len(second) == 10
    assert not set(asins) & set(second)
    assert _asins(send(f"{site}/search_results/fixed_6/soft%20cotton/99").body) == []


def _asins(body):
    return re.findall(r'class="product-link"[^>]*>([^<]+)<', body.decode())


def test_the_end_shows_goal_purchase_score_and_code(site, human_shop):
    goal = human_shop.goals[8]
    send(f"{site}/fixed_8")
    html = send(f"{site}/done/fixed_8/{goal.asin}/%7B%7D").body.decode()
    code = hashlib.sha1(b"fixed_8").hexdigest()[:10].upper()
    assert f"<pre>{code}</pre> (Paste it in your MTurk interface.)" in html
    reward = human_shop.reward(goal.asin, {}, goal)
    assert f"<pre>{reward.value}</pre>" in html
    shown = text_of(html)
    assert f"instuction text [SEP] {goal.instruction_text} [SEP]" in shown
    assert f"attrs [SEP] {list(goal.attributes)} [SEP] price upper" in shown
    assert "'w_price': " in shown
    assert "'r_type': 1.0" in shown


def test_sessions_begin_at_their_page_and_keep_their_goal(site, human_shop):
    assert send(f"{site}/search_results/nobody/tea/1").status == 404
    drawn = {name: text_of(send(f"{site}/{name}").body.decode()) for name in ("ann", "bob", "cy")}
    assert len(set(drawn.values())) > 1
    for name, text in drawn.items():
        assert text_of(send(f"{site}/{name}").body.decode()) == text
    assert send(site).status == 200  # leads to a session of its own
    assert send(f"{site}/fixed_{len(human_shop.goals)}").status == 404
    assert send(f"{site}/fixed_x").status == 404


def test_a_search_leads_to_its_address(site):
    page = send(f"{site}/fixed_1", b"search_query=Red+LAMP", method="POST")
    assert page.status == 200
    assert "Page 1 (Total results: " in page.body.decode()
    next_page = next(each for each in links(page.body.decode()) if each.endswith("/2"))
    assert unquote(next_page) == "/search_results/fixed_1/['red', 'lamp']/2"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("search_results/fixed_2/['a'/1", 400),
        ("search_results/fixed_2/[1]/1", 400),
        ("search_results/fixed_2/[]/1", 422),
        ("search_results/fixed_2/<c>/1", 422),
        ("search_results/fixed_2/tea/x", 400),
        ("search_results/fixed_2/tea/99999999999", 400),
        ("search_results/fixed_2/" + "x " * 6000 + "/1", 422),
        ("item_page/fixed_2/NOSUCH/tea/1/{}", 404),
        ("item_page/fixed_2/{asin}/tea/1/{'a': 1}", 400),
        ("item_page/fixed_2/{asin}/tea/1/__import__('os')", 400),
        ("item_page/fixed_2/{asin}/tea/1/" + "{" * 1000, 400),
        ("item_sub_page/fixed_2/{asin}/tea/1/Secrets/{}", 404),
        ("done/fixed_2/{asin}/[]", 400),
        ("done/nobody/{asin}/{}", 404),
        ("a/b/c", 404),
        ("x" * 300, 422),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(site, shop, path, status):
    send(f"{site}/fixed_2")
    asin = shop.catalogue.product(0).asin
    answer = send(f"{site}/{quote(path.replace('{asin}', asin))}")
    assert answer.status == status
    assert len(answer.body) < 300


def test_special_searches_are_the_sites_own(site, shop):
    """There, and only there, the original can search by attribute."""
    send(f"{site}/fixed_2")
    attribute = shop.catalogue.product(0).attributes[0]
    words = quote(str(["<a>", *attribute.split(" ")]))
    body = send(f"{site}/search_results/fixed_2/{words}/1").body
    having = [
        n for n in range(len(shop.catalogue)) if attribute in shop.catalogue.product(n).attributes
    ]
    assert f"(Total results: {len(having)})" in body.decode()
    assert len(_asins(send(f"{site}/search_results/fixed_2/%3Cr%3E/1").body)) == 10


def test_one_site_at_a_time(tmp_path, cache):
    both = subprocess.run(
        [sys.executable, "-c", START, "serve", "webshop", "--site", "--original-pages"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert both.returncode == 2
    assert "choose one" in both.stderr
