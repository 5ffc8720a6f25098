"""The viewer in a real browser: keyboard, live, play, no errors, nothing from elsewhere, and
nothing that axe-core finds serious."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from viewer_process import make_runs, viewing

from agentquest.store.folder import RunFolder
from agentquest.store.library import Library
from agentquest.viewer.export import export
from browser import CHROMIUM, Tab, browser_tab
from report_runs import hostile, hostile_manifest, saved

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]
_RIGHT, _LEFT, _END, _SPACE, _J, _K = 39, 37, 35, 32, 74, 75
AXE = Path(__file__).parents[2] / ".foreign" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
Site = tuple[str, Path, dict[str, str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("runs")
    names = make_runs(folder)
    saved(folder / "hostile", hostile(), hostile_manifest())
    (folder / "broken").mkdir()
    (folder / "broken" / "manifest.json").write_text("{")
    with viewing(folder) as address:
        yield address, folder, names


def episode(name: str, key: str, **more: object) -> str:
    return f"/episode?{urlencode({'run': name, 'episode': key, **more})}"


def paths(folder: Path, names: dict[str, str]) -> dict[str, str]:
    """An address of every kind of page."""
    record = RunFolder(folder / names["react"]).records()[0]
    pair = [("run", names["scripted"]), ("run", names["random"])]
    first = {"run": names["react"], "episode": record.key, "step": 1}
    return {
        "runs": "/",
        "grouped": "/?group=agent",
        "leaderboard": "/leaderboard",
        "people": "/people",
        "play": "/play",
        "run": f"/run/{names['random']}",
        "episode": episode(names["react"], record.key),
        "prompt": f"/prompt?{urlencode(first)}",
        "play on": f"/play-on?{urlencode(first)}",
        "compare": f"/compare?{urlencode(pair)}",
        "pair": f"/compare?{urlencode([*pair, ('task', record.task_id)])}",
        "hostile run": "/run/hostile",
        "hostile episode": episode("hostile", hostile()[0].key),
        "not found": "/run/nothing",
    }


async def now(tab: Tab) -> object:
    return await tab.evaluate("document.querySelector('.step.now').id")


async def until(tab: Tab, script: str) -> None:
    for _ in range(300):
        if await tab.evaluate(script):
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"never true: {script}")


async def test_an_episode_is_replayed_by_keyboard_and_the_address_follows(site: Site) -> None:
    address, folder, names = site
    record = RunFolder(folder / names["scripted"]).records()[0]
    async with browser_tab() as tab:
        await tab.open(address + episode(names["scripted"], record.key))
        for _ in range(2):
            await tab.press("ArrowRight", _RIGHT)
        assert await now(tab) == "step-2"
        assert "step=2" in str(await tab.evaluate("location.search"))
        top = await tab.evaluate("document.querySelector('.step.now').getBoundingClientRect().top")
        chart = await tab.evaluate(
            "document.querySelector('figure.timeline').getBoundingClientRect().bottom"
        )
        assert chart <= top < 500
        await tab.press("ArrowLeft", _LEFT)
        assert await now(tab) == "step-1"
        await tab.press("j", _J)
        assert await now(tab) == "step-2"
        await tab.press("k", _K)
        assert await now(tab) == "step-1"
        await tab.press(" ", _SPACE)
        await until(tab, "document.querySelector('.step.now').id === 'step-3'")
        await tab.press(" ", _SPACE)
        await tab.press("End", _END)
        last = f"step-{len(record.steps)}"
        assert await now(tab) == last
        shared = str(await tab.evaluate("location.href"))
        await tab.open(shared)
        assert await now(tab) == last
        await tab.click('[data-goto="1"]', moves=False)
        assert await now(tab) == "step-1"
        assert tab.console == []


async def test_a_prompt_is_shown_where_it_is_asked_for(site: Site) -> None:
    address, folder, names = site
    record = RunFolder(folder / names["react"]).records()[0]
    async with browser_tab() as tab:
        await tab.open(address + episode(names["react"], record.key, step=2))
        assert await now(tab) == "step-2"
        await tab.click("#step-2 details[data-load] summary", moves=False)
        await until(tab, "!!document.querySelector('#step-2 .message mark')")
        shown = await tab.evaluate(
            "[...document.querySelectorAll('#step-2 .message pre')].map((e) => e.textContent)"
        )
        assert shown == [message.content for message in record.prompt(record.steps[1])]
        assert tab.console == []


async def test_every_page_is_free_of_errors_and_asks_nobody_else(site: Site) -> None:
    address, folder, names = site
    async with browser_tab() as tab:
        for width in (1400, 360):
            await tab.call(
                "Emulation.setDeviceMetricsOverride",
                width=width, height=900, deviceScaleFactor=1, mobile=False,
            )  # fmt: skip
            for name, path in paths(folder, names).items():
                tab.console.clear()
                await tab.open(f"{address}{path}")
                asked = await tab.evaluate(
                    "performance.getEntriesByType('resource').map((e) => e.name)"
                )
                assert asked
                assert all(str(url).startswith(address) for url in asked), asked
                wide = await tab.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
                assert wide, (name, width)
                assert str(await tab.evaluate("document.title")).endswith(" · AgentQuest")
                expected = ["404"] if name == "not found" else []
                assert [e for e in tab.console if not any(x in e for x in expected)] == [], name


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not in .foreign/axe (npm install)")
async def test_axe_finds_no_serious_problem(site: Site) -> None:
    address, folder, names = site
    script = AXE.read_text(encoding="utf-8")
    found = []
    async with browser_tab() as tab:
        for scheme in ("light", "dark"):
            await tab.call(
                "Emulation.setEmulatedMedia",
                features=[{"name": "prefers-color-scheme", "value": scheme}],
            )
            for name, path in paths(folder, names).items():
                await tab.open(f"{address}{path}")
                await tab.evaluate(script)
                answer = await tab.call(
                    "Runtime.evaluate",
                    expression="axe.run().then((r) => JSON.stringify(r.violations))",
                    awaitPromise=True, returnByValue=True,
                )  # fmt: skip
                for problem in json.loads(answer["result"]["value"]):
                    if problem["impact"] in ("serious", "critical"):
                        where = [node["html"][:150] for node in problem["nodes"][:3]]
                        found.append((name, scheme, problem["id"], problem["help"], where))
    assert found == []


async def test_a_table_is_sorted_by_its_headings_and_the_address_says_how(site: Site) -> None:
    address, _, names = site
    column = "[...document.querySelectorAll('table.sortable tbody td:nth-child(2)')]"
    read = f"{column}.map((cell) => cell.textContent)"
    async with browser_tab() as tab:
        await tab.open(f"{address}/run/{names['random']}")
        await tab.click("table.sortable thead th:nth-child(2)", moves=False)
        await asyncio.sleep(0.1)
        goals = await tab.evaluate(read)
        assert goals == sorted(goals, reverse=True)
        assert len(goals) == 6
        await tab.open(str(await tab.evaluate("location.href")))
        assert await tab.evaluate(read) == goals


async def test_filters_and_runs_to_compare_are_chosen_with_the_mouse(site: Site) -> None:
    address, _, names = site
    async with browser_tab() as tab:
        await tab.open(f"{address}/run/{names['random']}")
        await tab.type("input[name=text]", "inventory")
        await tab.click("form.filters button")
        assert "text=inventory" in str(await tab.evaluate("location.search"))
        await tab.open(f"{address}/?benchmark=alfworld")
        for name in (names["scripted"], names["random"]):
            await tab.click(f'input[value="{name}"]', moves=False)
        await tab.click("#compare button")
        assert "p = 0.0065" in await tab.text("h2.answer")
        await tab.click("table.flips a")
        assert "first difference" in await tab.text("#pair")
        assert tab.console == []


async def test_a_run_is_followed_while_it_writes(site: Site, tmp_path: Path) -> None:
    """A real run in a process of its own, slow enough to be watched."""
    agent = tmp_path / "slow_agent.py"
    agent.write_text(
        "import asyncio\n"
        "from agentquest.agents.baselines import ScriptedAgent\n"
        "class Slow(ScriptedAgent):\n"
        "    async def act(self, observation):\n"
        "        await asyncio.sleep(1)\n"
        "        return await super().act(observation)\n"
    )
    folder = tmp_path / "runs"
    folder.mkdir()
    command = [
        sys.executable, "-m", "agentquest", "eval", "agent=slow_agent:Slow", "num_games=2",
        "data_path=builtin", f"output_dir={folder}", "run_name=slow", "max_steps=6", "parallel=1",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    with viewing(folder) as address:
        async with browser_tab() as tab:
            await tab.open(f"{address}/")
            assert "no runs in this folder" in await tab.text()
            process = await asyncio.create_subprocess_exec(
                *command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            try:
                await until(tab, "document.body.innerText.includes('slow')")
                await tab.open(f"{address}/run/slow")
                await until(tab, "/step [0-9]/.test(document.querySelector('#live').innerText)")
                await until(tab, "!document.querySelector('#live')")
                assert await tab.count("a.square") == 2
            finally:
                await asyncio.wait_for(process.wait(), timeout=60)
            assert tab.console == []


async def test_play_on_by_hand_ends_recorded(site: Site) -> None:
    address, folder, names = site
    record = RunFolder(folder / names["random"]).records()[0]
    async with browser_tab() as tab:
        await tab.open(address + episode(names["random"], record.key))
        await tab.click("#step-1 .play-on a")
        await tab.click("form button.primary")
        await tab.type("input[name=command]", "look")
        await tab.press("Enter", 13, moves=True)
        assert await tab.count("ol.transcript li") == 2
        await tab.click("button[value=quit]")
        await tab.click(".result a")
        assert await tab.count("section.step") == 3
        assert tab.console == []
    (played,) = RunFolder(folder / f"played-on-{names['random']}").records()
    assert [step.action for step in played.steps] == [record.steps[0].action, "look"]


async def test_an_export_works_from_the_disk(site: Site, tmp_path: Path) -> None:
    _, folder, names = site
    export(Library(folder), tmp_path / "pages")
    index = (tmp_path / "pages" / "index.html").as_uri()
    async with browser_tab() as tab:
        await tab.open(f"{index}?agent=random")
        visible = "[...document.querySelectorAll('tbody tr')].filter((r) => !r.hidden).length"
        assert await tab.evaluate(visible) == await tab.evaluate(
            "document.querySelectorAll('tbody tr[data-agent=random]').length"
        )
        await tab.click("tbody tr[data-agent=random] a")
        assert await tab.evaluate(visible) >= 6
        await tab.click("table.episodes tbody a")
        for _ in range(2):
            await tab.press("ArrowRight", _RIGHT)
        assert await now(tab) == "step-2"
        assert str(await tab.evaluate("location.href")).endswith("?step=2")
        assert tab.console == []
    assert names["random"] in (tmp_path / "pages" / "index.html").read_text()
