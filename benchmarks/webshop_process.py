"""Parts of the WebShop measurements that need a process of their own; each prints JSON.

python webshop_process.py start DATA EPISODES    from nothing to a first page, then episodes
python webshop_process.py walks DATA EPISODES    purchases that meet every kind of step
python webshop_process.py build FOLDER CACHE     the official files of FOLDER to a catalogue
python webshop_process.py search FOLDER CACHE PRODUCTS QUERIES
"""

import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentquest.benchmarks.webshop.shop.shop import ShoppingSession

_BEGAN = time.perf_counter()


def start(data: str, episodes: str) -> dict[str, float]:
    from agentquest.benchmarks.webshop import WebshopDriver
    from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
    from agentquest.benchmarks.webshop.shop.shop import Shop

    imported = time.perf_counter()
    shop = Shop(open_catalogue(data or None))
    driver = WebshopDriver(shop=shop)
    driver.reset(0)
    ready = time.perf_counter()
    before = _resident()
    for number in range(int(episodes)):
        driver.reset(number % len(shop.goals))
        words = shop.goals[number % len(shop.goals)].name.translate(str.maketrans("[]", "  "))
        for action in (f"search[{words}]", f"click[{shop.goals[number].asin.lower()}]"):
            driver.step_raw(f"Action: {action}")
        driver.step_raw("Action: click[description]")
        driver.step_raw("Action: click[< prev]")
        driver.step_raw("Action: click[buy now]")
    return {
        "import": imported - _BEGAN,
        "open": ready - imported,
        "bytes": before,
        "bytes_after": _resident(),
    }


def walks(data: str, episodes: str) -> dict[int, list[tuple[str, str]]]:
    """(kind, action) of each step, by the goal's number."""
    from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
    from agentquest.benchmarks.webshop.shop.shop import Shop, ShoppingSession

    shop = Shop(open_catalogue(data or None))
    numbers = range(len(shop.goals))
    chosen = random.Random(0).sample(numbers, min(int(episodes), len(numbers)))
    return {
        number: list(_walk(ShoppingSession(shop, "plan", shop.goals[number], random.Random(0))))
        for number in chosen
    }


def _walk(session: "ShoppingSession") -> Iterator[tuple[str, str]]:
    from agentquest.benchmarks.webshop.oracle import best_purchase, plan

    purchase = best_purchase(session.shop, session.goal)
    for action in plan(session):
        if action.startswith("search["):
            yield "search", action
        elif action == f"click[{purchase.asin.lower()}]":
            yield "product", action
            yield "sub page", "click[description]"
            yield "back", "click[< prev]"
        elif action == "click[buy now]":
            yield "buy", action
        else:
            yield ("page" if action.startswith("click[next") else "option"), action


def build(folder: str, cache: str) -> dict[str, float]:
    from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue

    began = time.perf_counter()
    catalogue = open_catalogue(folder, cache=Path(cache), progress=_show)
    seconds = time.perf_counter() - began
    size = sum(path.stat().st_size for path in catalogue.folder.iterdir())
    return {"seconds": seconds, "products": len(catalogue), "disk": size}


def search(folder: str, cache: str, products: str, count: str) -> dict[str, object]:
    from webshop_products import queries

    from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue

    began = time.perf_counter()
    catalogue = open_catalogue(folder, cache=Path(cache))
    opened = time.perf_counter() - began
    asked = queries(int(count) + 20, int(products))
    for query in asked[:20]:
        catalogue.search(query)
    times, hits = [], 0
    for query in asked[20:]:
        before = time.perf_counter()
        hits += len(catalogue.search(query))
        times.append(time.perf_counter() - before)
    return {"open": opened, "times": times, "hits": hits, "bytes": _resident()}


def _show(done: int, total: int) -> None:
    """On one line that is written over; in a file or pipe a hundred of these would be noise."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done / max(total, 1):6.1%} ")


def _resident() -> int:
    from measuring import resident_bytes

    return resident_bytes()


if __name__ == "__main__":
    part = {"start": start, "walks": walks, "build": build, "search": search}[sys.argv[1]]
    sys.stdout.write(json.dumps(part(*sys.argv[2:])) + "\n")
