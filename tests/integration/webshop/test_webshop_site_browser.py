"""The site in a real browser, with and without scripts, by mouse and by keyboard."""

import asyncio

import pytest
from hostile_shop import write_hostile_shop
from serving_process import ServerProcess

from agentquest.records.outcome import End
from agentquest.store.folder import RunFolder
from browser import CHROMIUM, browser_tab

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not on this machine"),
]
OPTIONS = ("--site", "--site-port", "0")
TAB, ENTER = ("Tab", 9), ("Enter", 13)

# For every piece of visible text, its colour against the first background behind it.
CONTRASTS = """
(() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('body *')]
    .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
    .map(e => {
      const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))];
      return [e.tagName + ': ' + e.textContent.slice(0, 30),
              (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
    });
})()
"""


@pytest.fixture(scope="module")
def site(shop, cache, tmp_path_factory):
    with ServerProcess(tmp_path_factory.mktemp("site"), cache, *OPTIONS) as process:
        yield process


def last_record(process):
    return RunFolder(process.folder / "runs/webshop-human").records()[-1]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
async def test_a_person_shops_with_the_mouse(site, shop, scripts):
    async with browser_tab(scripts) as tab:
        await tab.open(site.site)
        await tab.type("#number", "21")
        await tab.click("form button")
        assert shop.goals[21].instruction_text in await tab.text("aside")
        await tab.type("#query", "phone case")
        await tab.click("header button")
        assert await tab.count(".results li") == 10
        await tab.click(".results li:nth-child(2) button")
        assert await tab.count(".buy") == 1
        await tab.click(".option", moves=False)
        assert await tab.count(".option :checked") == 1
        await tab.click("[value='click[description]']")
        assert "Description" in await tab.text("h1")
        await tab.click("[value='click[< prev]']")
        assert await tab.count(".option :checked") == 1
        await tab.click(".buy")
        assert "Your score" in await tab.text("main")
        assert tab.console == []
    record = last_record(site)
    assert record.problem == "21"
    assert record.end in (End.SOLVED, End.FAILED)
    names = [action.split("[")[0] for action in record.actions]
    assert names == ["search", *["click"] * 5]
    assert record.details["options"]


async def test_a_person_shops_with_the_keyboard(site):
    async with browser_tab(scripts=False) as tab:
        await tab.open(site.site)
        await tab.click("form button")
        for _ in range(100):  # a busy browser focuses a little later
            if await tab.evaluate("document.activeElement.id") == "query":
                break
            await asyncio.sleep(0.1)
        else:
            pytest.fail("the search field has not got the focus")
        await tab.call("Input.insertText", text="lamp")
        await tab.press(*ENTER, moves=True)
        reached = await focused_by_tabbing(tab, ".results button")
        await tab.press(*ENTER, moves=True)
        assert reached in await tab.text("h1")
        await focused_by_tabbing(tab, ".buy")
        await tab.press(*ENTER, moves=True)
        assert "Your score" in await tab.text("main")


async def test_choosing_an_option_moves_nothing(site):
    """Neither the page under the reader's eyes nor the focus, by mouse or by keyboard."""
    async with browser_tab(scripts=False) as tab:
        await tab.call(
            "Emulation.setDeviceMetricsOverride",
            width=400, height=500, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        await tab.open(site.site)
        await tab.click("form button")
        await tab.type("#query", "shirt")
        await tab.click("header button")
        await tab.click(".results button")
        last = "fieldset:last-of-type label:last-of-type"
        await tab.click(last, moves=False)
        before = await tab.evaluate("scrollY")
        assert before > 0
        assert await tab.evaluate(f"document.querySelector({last + ' input'!r}).checked")
        assert await tab.evaluate("document.activeElement.type") == "radio"
        await tab.press("ArrowUp", 38)
        assert not await tab.evaluate(f"document.querySelector({last + ' input'!r}).checked")
        assert await tab.evaluate("document.activeElement.type") == "radio"
        assert abs(await tab.evaluate("scrollY") - before) < 100
        await tab.press(*ENTER, moves=True)  # keeps the choice, and presses no other button
        assert await tab.count(".option :checked") == 1
        await tab.click(".buy")
        assert "Your score" in await tab.text("main")
    chosen = last_record(site).details["options"]
    assert len(chosen) == 1


async def focused_by_tabbing(tab, selector):
    """Tab until the focus is on such an element and can be seen; its text."""
    for _ in range(60):
        await tab.press(*TAB)
        if await tab.evaluate(f"document.activeElement.matches({selector!r})"):
            style = await tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert style == "solid"
            return await tab.evaluate("document.activeElement.innerText")
    raise AssertionError(f"{selector} cannot be reached with the keyboard")


async def test_going_back_in_the_browser_undoes_nothing(site):
    async with browser_tab() as tab:
        await tab.open(site.site)
        await tab.click("form button")
        await tab.type("#query", "lamp")
        await tab.click("header button")
        await tab.click(".results button")
        await tab.back()
        if await tab.count(".results button"):  # kept by the browser: no use to click there
            await tab.click(".results li:nth-child(3) button")
        assert "Going back undoes nothing" in await tab.text("main")
        assert await tab.count(".buy") == 1
        await tab.click("aside a")
        await tab.click("main form button")
        assert "You gave up" in await tab.text("main")
    assert last_record(site).end is End.GAVE_UP


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_pages_can_be_read_and_found_one_s_way_in(site, scheme):
    async with browser_tab() as tab:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        await tab.call("Emulation.setEmulatedMedia", features=[feature])
        await tab.open(site.site)
        await check_page(tab)
        for selector in ("form button", "header button", ".results button", ".buy"):
            if selector == "header button":
                await tab.type("#query", "shirt")
            await tab.click(selector)
            await check_page(tab)


async def check_page(tab):
    """Contrast, names of controls, landmarks, one heading of the first rank, no overflow."""
    low = [found for found in await tab.evaluate(CONTRASTS) if found[1] < 4.5]
    assert low == []
    nodes = (await tab.call("Accessibility.getFullAXTree"))["nodes"]
    roles = [node["role"]["value"] for node in nodes if not node["ignored"]]
    assert {"main", "banner", "contentinfo"} <= set(roles)
    for node in nodes:
        if node.get("role", {}).get("value") in ("button", "link", "searchbox", "textbox"):
            assert node["name"]["value"], node
    assert await tab.count("h1") == 1
    assert await tab.evaluate("document.documentElement.lang") == "en"
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not await tab.evaluate(wide)


async def test_a_narrow_screen_needs_no_scrolling_sideways(site):
    async with browser_tab() as tab:
        await tab.call(
            "Emulation.setDeviceMetricsOverride",
            width=320, height=640, deviceScaleFactor=1, mobile=True,
        )  # fmt: skip
        await tab.open(site.site)
        await check_page(tab)
        await tab.click("form button")
        await tab.type("#query", "shirt")
        await tab.click("header button")
        await check_page(tab)
        await tab.click(".results button")
        await check_page(tab)


async def test_scripts_in_product_texts_never_run(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    write_hostile_shop(data)
    options = (*OPTIONS, "--data", str(data), "--goals", "human")
    with ServerProcess(tmp_path, tmp_path / "cache", *options) as process:
        async with browser_tab() as tab:
            await tab.open(process.site)
            await tab.click("form button")
            await tab.type("#query", "wrench <script>window.broken=9</script>")
            for selector in ("header button", ".results button", ".option :enabled", ".buy"):
                await tab.click(selector, moves=selector != ".option :enabled")
                assert await tab.evaluate("window.broken === undefined")
                assert await tab.count("script, img, svg, body b") == 0
                assert "<script>" in await tab.text("body")
            assert tab.console == []
