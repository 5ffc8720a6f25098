"""What a person meets at the edges of the viewer: nothing fits, a wrong turn, a small screen."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from viewer_process import get, make_runs, viewing

from agentquest import evaluate
from agentquest.store.folder import RunFolder
from browser import CHROMIUM, Tab, browser_tab

pytest.importorskip("starlette", reason="the viewer needs the extra `serve`")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
PHONE = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("runs")
    names = make_runs(folder)
    played = evaluate(benchmark="sudoku", agent="scripted", num_games=1, output_dir=str(folder))
    return folder, {**names, "sudoku": Path(played.path).name}


@pytest.fixture(scope="module")
def site(runs: tuple[Path, dict[str, str]]) -> Iterator[str]:
    with viewing(runs[0]) as address:
        yield address


def episode(folder: Path, run: str) -> str:
    key = RunFolder(folder / run).records()[0].key
    return f"/episode?{urlencode({'run': run, 'episode': key})}"


def compared(names: dict[str, str]) -> str:
    return f"/compare?{urlencode([('run', names['scripted']), ('run', names['random'])])}"


def test_where_nothing_fits_the_page_says_so_and_leads_back(
    site: str, runs: tuple[Path, dict[str, str]]
) -> None:
    _, text, _ = get(f"{site}/?text=nothing-is-called-this")
    assert "No run matches" in text
    assert "Compare the chosen" not in text
    run = runs[1]["scripted"]
    _, text, _ = get(f"{site}/run/{run}?text=nothing-is-said-like-this")
    assert f'No episode matches. <a href="/run/{run}">' in text


@pytest.mark.parametrize("path", ["/no-such-page", "/run/no-such-run"])
def test_a_wrong_address_has_a_page_with_a_way_back(site: str, path: str) -> None:
    status, text, _ = get(f"{site}{path}")
    assert status == 404
    assert "<title>Not found" in text
    assert '<a href="/">All runs</a>' in text


def test_runs_that_cannot_be_compared_are_not_called_missing(
    site: str, runs: tuple[Path, dict[str, str]]
) -> None:
    one, other = ("run", runs[1]["scripted"]), ("run", runs[1]["sudoku"])
    for asked in ([one], [one, other]):
        _, text, _ = get(f"{site}/compare?{urlencode(asked)}")
        assert "<h1>Cannot be compared</h1>" in text
        assert '<a href="/">All runs</a>' in text


def test_a_folder_without_runs_has_nothing_to_filter_or_rank(tmp_path: Path) -> None:
    with viewing(tmp_path) as address:
        assert "<select" not in get(f"{address}/")[1]
        assert "No run is complete" in get(f"{address}/leaderboard")[1]


def test_columns_of_which_nothing_is_known_are_left_out(
    site: str, runs: tuple[Path, dict[str, str]]
) -> None:
    _, text, _ = get(f"{site}/")
    headings = re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', text)
    assert "success" in headings
    assert "cost" not in headings  # nobody was paid
    _, text, _ = get(f"{site}/run/{runs[1]['scripted']}")
    assert ">seconds</th>" in text
    assert ">tokens</th>" not in text


def test_compared_runs_are_named_and_linked_and_dots_explained(
    site: str, runs: tuple[Path, dict[str, str]]
) -> None:
    _, text, _ = get(f"{site}{compared(runs[1])}")
    first = text.partition("The runs compared")[2].partition("</table>")[0]
    assert "baseline" in first
    for agent in ("scripted", "random"):
        assert f'<a href="/run/{runs[1][agent]}">' in first
    assert '<span class="key lost">' in text


def test_tables_of_the_leaderboard_that_look_alike_are_told_apart(tmp_path: Path) -> None:
    for seed in (1, 2):
        evaluate(
            benchmark="mastermind", agent="scripted", num_games=2, seed=seed,
            output_dir=str(tmp_path), run_name=f"seed-{seed}",
        )  # fmt: skip
    with viewing(tmp_path) as address:
        _, text, _ = get(f"{address}/leaderboard")
    told = re.findall(r'<p class="note">([^<]*2 tasks[^<]*)</p>', text)
    assert len(told) == 2
    assert told[0] != told[1]


def test_trials_of_a_long_task_are_told_apart(tmp_path: Path) -> None:
    played = evaluate(
        benchmark="mastermind", agent="scripted", num_games=1, trials=2, output_dir=str(tmp_path)
    )
    with viewing(tmp_path) as address:
        _, text, _ = get(f"{address}/run/{Path(played.path).name}")
    # Not in the name of the task, whose end is cut off where it is long.
    assert re.findall(r"<small>[^<]*, trial (\d)</small>", text) == ["1", "2"]


def test_a_board_is_drawn_with_what_a_step_changed(
    site: str, runs: tuple[Path, dict[str, str]]
) -> None:
    folder, names = runs
    _, text, _ = get(site + episode(folder, names["sudoku"]))
    steps = RunFolder(folder / names["sudoku"]).records()[0].steps
    assert text.count('class="board boxed"') == len(steps) + 1
    assert text.count('class="changed"') == len(steps)


@pytest.mark.long
@needs_browser
def test_no_page_is_wider_than_a_phone(site: str, runs: tuple[Path, dict[str, str]]) -> None:
    folder, names = runs
    paths = ["/", "/leaderboard", "/play", f"/run/{names['random']}", compared(names)]
    paths += [episode(folder, names["random"]), episode(folder, names["sudoku"])]

    async def look() -> None:
        async with browser_tab() as tab:
            await tab.call("Emulation.setDeviceMetricsOverride", **PHONE)
            for path in paths:
                await tab.open(site + path)
                assert await tab.evaluate("document.documentElement.scrollWidth") <= 400, path
            last = "document.querySelector('.top nav a:last-child').getBoundingClientRect().right"
            assert await tab.evaluate(last) <= 390, "all of the navigation is in sight"

    asyncio.run(look())


@needs_browser
def test_what_is_tapped_and_read_on_a_phone_is_large_enough(
    site: str, runs: tuple[Path, dict[str, str]]
) -> None:
    async def smallest(tab: Tab, selector: str) -> float:
        script = f"Math.min(...[...document.querySelectorAll('{selector}')].map({{}}))"
        return float(await tab.evaluate(script.format("(e) => e.getBoundingClientRect().height")))

    async def look() -> None:
        async with browser_tab() as tab:
            await tab.call("Emulation.setDeviceMetricsOverride", **PHONE)
            await tab.open(f"{site}/run/{runs[1]['random']}")
            assert await smallest(tab, "a.square") >= 24
            drawn_at = "document.querySelector('.chart.intervals').getBoundingClientRect().width"
            assert await tab.evaluate(drawn_at) >= 500  # of 640: its words can be read

    asyncio.run(look())


@needs_browser
def test_an_episode_is_stepped_through_with_buttons(
    site: str, runs: tuple[Path, dict[str, str]]
) -> None:
    async def click() -> None:
        async with browser_tab() as tab:
            await tab.open(site + episode(runs[0], runs[1]["random"]))
            await tab.click('[data-move="1"]', moves=False)
            await tab.click('[data-move="1"]', moves=False)
            await tab.press("ArrowLeft", 37)
            assert await tab.evaluate("document.querySelector('.step.now').id") == "step-1"
            await tab.click('[data-move="play"]', moves=False)
            assert await tab.text('[data-move="play"]') == "Pause"

    asyncio.run(click())


@needs_browser
def test_comparing_waits_for_two_runs(site: str) -> None:
    async def choose() -> None:
        async with browser_tab() as tab:
            await tab.open(f"{site}/?benchmark=alfworld")
            waits = "document.querySelector('#compare button').disabled"
            assert await tab.evaluate(waits)
            for place in (1, 2):
                assert await tab.evaluate(waits)
                await tab.click(f"tbody tr:nth-child({place}) input", moves=False)
            await tab.click("#compare button")
            assert "Compare" in await tab.text("h1")

    asyncio.run(choose())


@needs_browser
def test_bars_stand_in_a_column_beside_their_figures_and_tables_apart(
    site: str, runs: tuple[Path, dict[str, str]]
) -> None:
    edges = "[...document.querySelectorAll('{}')].map((e) => e.getBoundingClientRect().{})"

    async def look() -> None:
        async with browser_tab() as tab:
            for page in ("/?benchmark=alfworld", compared(runs[1])):
                await tab.open(site + page)
                figures = await tab.evaluate(edges.format(".rate .soft", "right"))
                bars = await tab.evaluate(edges.format(".rate + .mini", "left"))
                assert len(set(bars)) == 1, page
                assert max(figures) + 3 < bars[0]
            above = await tab.evaluate(edges.format(".wide:has(+ .wide)", "bottom"))
            below = await tab.evaluate(edges.format(".wide + .wide", "top"))
            assert above
            assert all(high + 3 < low for high, low in zip(above, below, strict=True))

    asyncio.run(look())
