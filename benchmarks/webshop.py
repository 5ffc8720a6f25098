"""WebShop: start, memory, reset, each kind of step, search, and many clients at once.

The original is asked over HTTP where one runs (`--original URL`, its documented
server); else its column shows figures that were noted on two shared cores, and
says so, and there are no ratios. Large catalogues are made on the spot and removed
afterwards. Every goal is played once, and what to do is worked out in another process: each
page is as cold, or as warm from the pages before it, as it is for an agent.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from measuring import Row, duration, machine, quantile, seconds_of, table, times
from webshop_http import load, server
from webshop_products import write_catalogue

from agentquest.benchmarks.webshop import WebshopAction, WebshopDriver
from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.client import ShopClient
from agentquest.benchmarks.webshop.shop.shop import Shop
from agentquest.errors import AgentQuestError
from agentquest.safe_text import say

FULL = 1_180_000
KINDS = ("reset", "search", "product", "option", "sub page", "buy")
# Of the original at commit 64fa2a5 with 1,000 products, on two shared cores; seconds and bytes.
_NOTED = {
    "start": 7.5, "reset": 8.7e-3, "search": 72e-3, "product": 65e-3, "option": 51e-3,
    "sub page": 24e-3, "buy": 60e-3, "memory": 354e6, "memory after": 636e6,
}  # fmt: skip
_HERE = Path(__file__).parent


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    say(machine())
    try:
        say()
        say(_steps_table(options))
        if options.products:
            with tempfile.TemporaryDirectory(prefix="webshop-bench-") as folder:
                say(_search_table(options, Path(folder)))
        if options.clients:
            say(_http_lines(options))
    except AgentQuestError as error:
        say(f"error: {error}")
        return 2
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py webshop", description=__doc__)
    parser.add_argument("--data", metavar="DIR", help="official files instead of built-in products")
    parser.add_argument("--episodes", type=int, default=150, metavar="N")
    parser.add_argument("--original", metavar="URL", help="the original's server, if one runs")
    parser.add_argument("--products", type=int, default=100_000, metavar="N", help="0: no search")
    parser.add_argument("--full", action="store_true", help=f"search {FULL:,} products")
    parser.add_argument("--queries", type=int, default=300, metavar="N")
    parser.add_argument("--clients", type=int, default=200, metavar="N", help="0: no server")
    parser.add_argument("--sessions", type=int, default=2000, metavar="N", help="over HTTP")
    options = parser.parse_args(arguments)
    if options.full:
        options.products = FULL
    return options


def _child(part: str, *arguments: object) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(_HERE / "webshop_process.py"), part, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _steps_table(options: argparse.Namespace) -> str:
    catalogue = open_catalogue(options.data)  # made now, so that what follows opens it
    began = _child("start", options.data or "", options.episodes)
    walks = _child("walks", options.data or "", options.episodes)
    samples = our_samples(Shop(catalogue), walks)
    theirs = _their_samples(options.original) if options.original else {}
    head = "original" if theirs else "original (noted)"
    start = began["import"] + began["open"]
    rows = [Row("start: import, open, first page", duration(start), duration(_NOTED["start"]))]
    for what, key, noted in (
        ("memory, 1 session", "bytes", "memory"),
        (f"memory after {options.episodes} episodes", "bytes_after", "memory after"),
    ):
        ours = float(began[key])
        rows.append(Row(what, _megabytes(ours), _megabytes(_NOTED[noted])))
    for kind in KINDS:
        ours = quantile(samples[kind], 0.5)
        other = quantile(theirs[kind], 0.5) if theirs else _NOTED[kind]
        ratio = times(other, ours) if theirs else ""
        rows.append(Row(f"{kind}, p50", duration(ours), duration(other), ratio))
        rows.append(Row(f"{kind}, p95", duration(quantile(samples[kind], 0.95))))
    played = len(samples["reset"])
    said = [f"{len(catalogue):,} products; {played} goals, each played once."]
    if not theirs:
        said.append("No original was asked: its column was noted on other, equally shared, cores.")
    else:
        said.append("The original was asked over HTTP; its start and memory are noted ones.")
    return "\n".join([table(Row("", "AgentQuest", head, "better"), rows), *said, ""])


def our_samples(shop: Shop, walks: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, list[float]]:
    """The time of each kind of step; `walks` has (kind, action) pairs by the goal's number."""
    samples: dict[str, list[float]] = {kind: [] for kind in (*KINDS, "back", "page")}
    driver = WebshopDriver(shop=shop)
    for number, walk in walks.items():
        samples["reset"].append(seconds_of(partial(driver.reset, int(number))))
        for kind, action in walk:
            step = partial(driver.step, WebshopAction(value=action))
            samples[kind].append(seconds_of(step))
    return samples


def _their_samples(url: str) -> dict[str, list[float]]:
    """The same kinds of step on a server that chooses its own goals."""
    samples: dict[str, list[float]] = {kind: [] for kind in KINDS}
    client = ShopClient(url)

    def timed(kind: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        answers: list[dict[str, Any]] = []
        samples[kind].append(seconds_of(lambda: answers.append(work())))
        return answers[0]

    for _ in range(30):
        answer = timed("reset", client.reset)
        wish = answer["obs"].split(" [SEP] ")[2].translate(str.maketrans("[]", "  "))
        answer = timed("search", partial(client.step, f"search[{wish}]"))
        links = [c for c in answer["available_actions"]["clickables"] if len(c) == 10]
        answer = timed("product", partial(client.step, f"click[{links[0]}]"))
        after = answer["available_actions"]["clickables"]
        timed("sub page", partial(client.step, "click[description]"))
        client.step("click[< prev]")
        for option in after[after.index("buy now") + 1 :][:1]:
            timed("option", partial(client.step, f"click[{option}]"))
        timed("buy", partial(client.step, "click[buy now]"))
    return samples


def _search_table(options: argparse.Namespace, folder: Path) -> str:
    rows = []
    for products in (1_000, options.products):
        place = folder / f"{products}"
        place.mkdir()
        say(f"making {products:,} products ...")
        took = seconds_of(partial(write_catalogue, place, products))
        say(f"written in {duration(took)}; building the catalogue ...")
        built, most = _watched_build(place, place / "cache")
        found = _child("search", place, place / "cache", products, options.queries)
        rows += [
            Row(f"{products:,} products: build", duration(built["seconds"])),
            Row("  most memory while building", _megabytes(most)),
            Row("  on disk", _megabytes(built["disk"])),
            Row("  opening it again", duration(found["open"])),
            Row("  search, p50", duration(quantile(found["times"], 0.5))),
            Row("  search, p95", duration(quantile(found["times"], 0.95))),
            Row("  memory after the searches", _megabytes(found["bytes"])),
        ]
    return "\n".join(["", table(Row("random products", "AgentQuest", " ", " "), rows), ""])


def _watched_build(folder: Path, cache: Path) -> tuple[dict[str, Any], float]:
    """Build in a process of its own, and the most that it and its workers occupied together."""
    process = subprocess.Popen(
        [sys.executable, str(_HERE / "webshop_process.py"), "build", str(folder), str(cache)],
        stdout=subprocess.PIPE,
        text=True,
    )
    most, over = [0.0], threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            most[0] = max(most[0], _occupied(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    text, _ = process.communicate()
    over.set()
    watcher.join()
    say()
    if process.returncode:
        raise AgentQuestError("the build failed")
    return json.loads(text), most[0]


def _occupied(pid: int) -> float:
    """Memory of a process and its children, what they share counted once (Linux)."""
    total = 0.0
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        total += next(float(x.split()[1]) for x in rollup.splitlines() if x.startswith("Pss:"))
        threads = Path(f"/proc/{pid}/task").iterdir()
        children = [c for t in threads for c in (t / "children").read_text().split()]
    except (OSError, StopIteration):
        return total * 1024
    return total * 1024 + sum(_occupied(int(child)) for child in children)


def _http_lines(options: argparse.Namespace) -> str:
    with server(options.data) as url:
        load(url, options.clients, options.clients)
        seen = load(url, options.clients, options.sessions)
    return "\n".join(
        [
            f"Over HTTP, {options.clients} clients at once: "
            f"{seen.sessions / seen.seconds:,.0f} whole sessions a second "
            f"({seen.requests / seen.seconds:,.0f} requests), a request takes "
            f"{duration(quantile(seen.times, 0.5))} at p50 and "
            f"{duration(quantile(seen.times, 0.95))} at p95.",
            "Clients and server share this machine. The original serves one client.",
        ]
    )


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"
