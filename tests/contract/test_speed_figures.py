"""Figures of speed are of the work that users pay for, not of what was kept from before.

Nothing is timed here: in place of seconds, each sample is how often the work was really done.
"""

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import pytest

from agentquest.benchmarks.alfworld.engine import engine
from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.shop.shop import Shop

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"open": "_parse", "open again": "_parse", "step": "find"}
KINDS |= dict.fromkeys(("plan", "plan again", "walk plan"), "plan")


@pytest.fixture(scope="module", autouse=True)
def _programs() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for folder in ("conformance", "benchmarks"):
            patch.syspath_prepend(str(ROOT / folder))
        before = set(sys.modules)
        yield
    for name in set(sys.modules) - before:  # names such as `run` or `games` are others' too
        if str(ROOT / "src") not in str(getattr(sys.modules[name], "__file__", "")):
            sys.modules.pop(name)


class Work:
    """Counts the calls of functions of a module, and has them in place of seconds."""

    def __init__(self, patch: pytest.MonkeyPatch, module: Any, names: set[str]) -> None:
        self.done = dict.fromkeys(names, 0)
        for name in names:
            patch.setattr(module, name, partial(self._call, name, getattr(module, name)))

    def _call(self, name: str, function: Callable[..., Any], *given: Any) -> Any:
        self.done[name] += 1
        return function(*given)

    def of(self, work: Callable[[], object]) -> dict[str, int]:
        before = dict(self.done)
        work()
        return {name: self.done[name] - before[name] for name in before}


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the benchmark takes for times, of two games walked twice."""
    import alfworld_games
    import alfworld_speed

    work = Work(monkeypatch, engine, set(KINDS.values()))
    monkeypatch.setattr(alfworld_speed, "seconds_of", work.of)
    # Other tests of this process may hold the same games.
    monkeypatch.setattr(engine, "_in_use", WeakValueDictionary())
    taken = alfworld_speed.Samples()
    files = alfworld_games.game_files(None, 1, random.Random(0), tmp_path, None)[:2]
    for file in files:
        walk = ["look", *alfworld_speed._walk(file, 6, random.Random(0)), "inventory"]
        alfworld_speed.measure_ours(taken, file, walk, 2)
    return taken


def test_alfworlds_samples_are_work_unless_they_say_again(samples: Any) -> None:
    assert set(samples.ours) == set(KINDS)
    for kind, taken in samples.ours.items():
        done = {one[KINDS[kind]] for one in taken}
        assert done == {0 if kind.endswith("again") else 1}, kind


def test_the_plan_beside_the_references_is_made_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import alfworld_games
    import alfworld_speed

    work = Work(monkeypatch, engine, {"plan"})
    monkeypatch.setattr(alfworld_speed, "seconds_of", work.of)
    (file, *_) = alfworld_games.game_files(None, 1, random.Random(0), tmp_path, None)
    game = engine.AlfWorldEngine.load(file)
    assert [alfworld_speed.plan_seconds(game)["plan"] for _ in range(3)] == [1, 1, 1]


def test_alfworlds_table_says_again_where_something_was_kept() -> None:
    import alfworld_report
    from measuring import duration

    samples = alfworld_report.Samples()
    for place, kind in enumerate(samples.ours, start=1):
        samples.ours[kind] = [place / 1000]
    lines = alfworld_report.report(samples, 1.0, 1, None, 1, 1.0).splitlines()
    for kind, (took,) in samples.ours.items():
        rows = [line for line in lines if f" {duration(took)} " in f"{line} "]
        assert rows, kind
        assert all((" again" in row) == kind.endswith("again") for row in rows), rows


def test_webshop_is_asked_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import webshop

    monkeypatch.setenv("AGENTQUEST_CACHE", str(tmp_path))
    walks = webshop._child("walks", "", 4)
    shop = Shop(open_catalogue())
    samples = webshop.our_samples(shop, walks)
    assert len(samples["reset"]) == len(walks) == 4
    assert all(samples[kind] for kind in webshop.KINDS)
    searches = [action for walk in walks.values() for kind, action in walk if kind == "search"]
    found = shop.catalogue.search.cache_info()
    assert found.misses == len(set(searches)) == len(searches)


def test_a_long_build_says_no_percentages_into_a_pipe(tmp_path: Path) -> None:
    from webshop_products import write_catalogue

    write_catalogue(tmp_path, 60)
    script = str(ROOT / "benchmarks" / "webshop_process.py")
    done = subprocess.run(
        [sys.executable, script, "build", str(tmp_path), str(tmp_path / "cache")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["products"] == 60
    assert done.stderr == ""
