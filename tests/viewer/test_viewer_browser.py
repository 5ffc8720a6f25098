"""The viewer in a real browser: keyboard replay, sorting, no errors, nothing from elsewhere."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from viewer_process import make_runs, viewing

from agentquest.records.run_directory import RunDirectory
from browser import CHROMIUM, browser_tab
from report_runs import hostile, hostile_manifest, saved

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
_RIGHT, _LEFT, _END = 39, 37, 35


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path, dict[str, str]]]:
    folder = tmp_path_factory.mktemp("runs")
    names = make_runs(folder)
    saved(folder / "hostile", hostile(), hostile_manifest())
    with viewing(folder) as address:
        yield address, folder, names


async def test_an_episode_is_replayed_by_keyboard_and_the_address_follows(
    site: tuple[str, Path, dict[str, str]],
) -> None:
    address, folder, names = site
    record = RunDirectory(folder / names["scripted"]).records()[0]
    query = urlencode({"run": names["scripted"], "episode": record.key})
    async with browser_tab() as tab:
        await tab.open(f"{address}/episode?{query}")
        for _ in range(2):
            await tab.press("ArrowRight", _RIGHT)
        assert await tab.evaluate("document.querySelector('.step.now').id") == "step-2"
        assert "step=2" in str(await tab.evaluate("location.search"))
        await tab.press("ArrowLeft", _LEFT)
        assert await tab.evaluate("document.querySelector('.step.now').id") == "step-1"
        await tab.press("End", _END)
        last = f"step-{len(record.steps)}"
        assert await tab.evaluate("document.querySelector('.step.now').id") == last
        shared = str(await tab.evaluate("location.href"))
        await tab.open(shared)
        assert await tab.evaluate("document.querySelector('.step.now').id") == last
        assert tab.console == []


async def test_every_page_is_free_of_errors_and_asks_nobody_else(
    site: tuple[str, Path, dict[str, str]],
) -> None:
    address, _, names = site
    pair = urlencode([("run", names["scripted"]), ("run", names["random"])])
    first = hostile()[0].key
    paths = [
        "/", "/leaderboard", f"/run/{names['react']}", f"/compare?{pair}", "/run/hostile",
        f"/episode?{urlencode({'run': 'hostile', 'episode': first})}",
    ]  # fmt: skip
    async with browser_tab() as tab:
        for path in paths:
            await tab.open(f"{address}{path}")
            asked = await tab.evaluate(
                "performance.getEntriesByType('resource').map((e) => e.name)"
            )
            assert asked
            assert all(str(url).startswith(address) for url in asked), asked
            wide = await tab.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
            assert wide, path
        assert tab.console == []


async def test_a_table_is_sorted_by_its_headings(
    site: tuple[str, Path, dict[str, str]],
) -> None:
    address, _, names = site
    async with browser_tab() as tab:
        await tab.open(f"{address}/run/{names['random']}")
        await tab.click("table.sortable thead th:nth-child(3)", moves=False)
        await asyncio.sleep(0.1)
        goals = await tab.evaluate(
            "[...document.querySelectorAll('table.sortable tbody td:nth-child(3)')]"
            ".map((cell) => cell.textContent)"
        )
        assert goals == sorted(goals, reverse=True)
        assert len(goals) == 6
