"""Loading, caching and rebuilding catalogues of files written on the spot."""

import hashlib
import json
import os
import pickle
import random
import signal
import string
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest

from agentquest.benchmarks.webshop.catalogue import build as catalogue_build
from agentquest.benchmarks.webshop.catalogue.builtin import DIGESTS, official_files
from agentquest.benchmarks.webshop.catalogue.catalogue import find_files, open_catalogue
from agentquest.benchmarks.webshop.catalogue.products import Product
from agentquest.benchmarks.webshop.game import WebshopGame
from agentquest.benchmarks.webshop.shop.shop import LONGEST_ACTION, Shop, ShoppingSession
from agentquest.benchmarks.webshop.tasks import task_of
from agentquest.errors import DataError


def record(asin="B000000001", **changes):
    return {
        "asin": asin,
        "name": "Plain Kettle",
        "full_description": "Boils water.",
        "small_description": ["Steel", "Quiet"],
        "pricing": "$20.50",
        "images": ["a.jpg"],
        "product_category": "Home › Kitchen › Kettles",
        "category": "garden",
        "query": " Kettles ",
        "customization_options": "",
        **changes,
    }


def write(folder, records, listings=None, human=None):
    listings = listings if listings is not None else {r["asin"]: {} for r in records}
    (folder / "items_shuffle_1000.json").write_text(json.dumps(records), "utf-8")
    (folder / "items_ins_v2_1000.json").write_text(json.dumps(listings), "utf-8")
    if human is not None:
        (folder / "items_human_ins.json").write_text(json.dumps(human), "utf-8")
    return folder


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def load(data, tmp_path, **options):
    return open_catalogue(data, cache=tmp_path / "cache", **options)


def products(catalogue):
    return [catalogue.product(number) for number in range(len(catalogue))]


def test_products_are_read_by_the_rules_of_the_original(data, tmp_path):
    records = [
        record(pricing="", customization_options={"Color": None, "Size": []}),
        record("B000000002", pricing="$1,299.00 - $1,500.5", small_description="Only one"),
        record("B000000003", customization_options={"Color": [{"value": " Red/Blue "}]}),
        record("B000000003", name="a repeated one"),
        record("B0000000030", name="too long an id"),
        record("nan"),
    ]
    listings = {"B000000001": {"attributes": []}, "B000000002": {"attributes": ["steel"]}}
    first, second, third = products(load(write(data, records, listings), tmp_path))
    assert (first.price_text, first.query) == ("$100.0", "kettles")
    assert first.options == {"size": ()}
    assert first.attributes == ()
    assert (second.price_text, second.bullets) == ("$1299.0 to $1500.5", ("Only one",))
    assert third.options == {"color": ("red | blue",)}
    assert third.attributes == ("DUMMY_ATTR",)
    assert not third.listed


def test_rows_hold_whole_products(catalogue):
    for product in products(catalogue):
        assert Product.from_row(product.to_row()) == product


ASKED = {"attributes": ["steel"], "instruction": "x", "instruction_attributes": ["steel"]}
MANY = {f"g{n}": [{"value": str(value)} for value in range(10)] for n in range(6000)}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"name": None}, "name"),
        ({"pricing": "cheap"}, "pricing"),
        ({"pricing": "$x"}, "pricing"),
        ({"small_description": [1]}, "small_description"),
        ({"customization_options": {"Color": ["red"]}}, "Color"),
        ({"customization_options": [1]}, "customization_options"),
        ({"category": 3}, "category"),
        ({"customization_options": MANY}, "options make more than"),
    ],
)
def test_a_bad_field_is_named(data, tmp_path, changes, named):
    write(data, [record(**changes)], {"B000000001": ASKED})
    with pytest.raises(DataError, match=rf"items_shuffle_1000\.json: product B000000001.*{named}"):
        load(data, tmp_path)
    assert not list((tmp_path / "cache").glob("*.tmp"))


@pytest.mark.parametrize(
    ("listing", "human", "named"),
    [
        (3, None, r"items_ins_v2_1000\.json: product B000000001"),
        ({"attributes": [1]}, None, r"items_ins_v2_1000\.json: product B000000001: attributes"),
        ({"instruction": 1, "instruction_attributes": []}, None, "B000000001: instruction must"),
        ({}, [3], r"items_human_ins\.json: product B000000001"),
        ({}, [{"instruction": None}], r"items_human_ins\.json: .*: instruction must be text"),
    ],
)
def test_a_bad_entry_is_named_with_its_file(data, tmp_path, listing, human, named):
    entries = {} if human is None else {"B000000001": human}
    write(data, [record(instruction=None)], {"B000000001": listing}, human=entries)
    with pytest.raises(DataError, match=named):
        load(data, tmp_path)


def test_what_is_quoted_of_a_file_is_short(data, tmp_path):
    write(data, [record(category="x" * 100_000)], {"B000000001": ASKED})
    goals = Shop(load(data, tmp_path)).goals
    with pytest.raises(DataError, match="category 'xxx") as error:
        task_of(goals, 0)
    assert len(str(error.value)) < 1000
    assert "items_shuffle_1000.json" in str(error.value)


def test_the_best_of_very_many_combinations_of_options_is_found(data, tmp_path):
    wishes = [letter * 4 for letter in string.ascii_lowercase]
    groups = {f"g{n}": [{"value": wish}, {"value": "other"}] for n, wish in enumerate(wishes)}
    human = {"instruction": "x", "instruction_attributes": ["x"], "instruction_options": wishes}
    write(data, [record(customization_options=groups)], human={"B000000001": [human]})
    game = WebshopGame(Shop(load(data, tmp_path), goals="human"), 0)
    game.reset()
    bought = game.plan()
    for command in bought:
        game.step(command)
    assert game.done
    assert len(bought) == len(wishes) + 3
    assert game.session.details["r_option"] == 1.0


def test_a_product_whose_name_is_too_long_for_a_search_is_found_otherwise(data, tmp_path):
    human = {"B000000001": [{"instruction": "x", "instruction_attributes": ["x"]}]}
    human["B000000001"][0]["instruction_options"] = []
    records = [record(name="x" * LONGEST_ACTION)]
    game = WebshopGame(Shop(load(write(data, records, human=human), tmp_path), goals="human"), 0)
    game.reset()
    for command in game.plan():
        assert len(command) <= LONGEST_ACTION
        game.step(command)
    assert game.done


def test_a_key_that_no_product_has_does_not_widen_the_table_of_keys(data, tmp_path):
    others = {f"k{number}": {} for number in range(1000)} | {"x" * 1_000_000: {}}
    write(data, [record()], {"B000000001": {"attributes": ["steel"]}, **others}, human=others)
    tracemalloc.start()
    try:
        (kettle,) = products(load(data, tmp_path))
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()
    assert kettle.attributes == ("steel",)


def test_missing_and_doubled_files_are_named(data, tmp_path):
    with pytest.raises(DataError, match=r"items_shuffle.*missing"):
        load(data, tmp_path)
    write(data, [record()])
    (data / "items_ins_v2_1000.json").rename(data / "elsewhere.json")
    with pytest.raises(DataError, match=r"items_ins_v2_1000\.json is missing"):
        load(data, tmp_path)
    (data / "items_shuffle.json").write_text("[]", "utf-8")
    with pytest.raises(DataError, match="both sizes"):
        find_files(data)
    with pytest.raises(DataError, match="no WebShop data there"):
        find_files(data / "nowhere")


def test_only_the_first_products_when_asked(data, tmp_path):
    write(data, [record(f"B00000000{i}") for i in range(5)])
    assert len(load(data, tmp_path, num_products=3)) == 3
    assert len(load(data, tmp_path)) == 5


def test_the_data_folder_is_left_alone_and_a_change_is_noticed(data, tmp_path):
    write(data, [record()])
    before = {path: path.read_bytes() for path in data.iterdir()}
    first = load(data, tmp_path)
    assert load(data, tmp_path).folder == first.folder
    assert {path: path.read_bytes() for path in data.iterdir()} == before
    write(data, [record(name="Other Kettle")])
    assert load(data, tmp_path).product(0).title == "Other Kettle"
    assert first.product(0).title == "Plain Kettle"


def test_an_empty_catalogue_can_be_opened(data, tmp_path):
    catalogue = load(write(data, []), tmp_path)
    assert len(catalogue) == 0
    assert catalogue.search("kettle") == ()
    assert catalogue.number("B000000001") is None


def test_a_catalogue_is_pickled_by_its_place(catalogue):
    copy = pickle.loads(pickle.dumps(catalogue))
    assert copy.folder == catalogue.folder
    assert copy.search("backpack") == catalogue.search("backpack")


def test_progress_is_told_up_to_the_end(data, tmp_path):
    told = []
    load(
        write(data, [record(f"B{i:09d}") for i in range(1200)]),
        tmp_path,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len({total for _, total in told}) == 1


@pytest.fixture
def builtin_data(data):
    for name, content in official_files().items():
        (data / name).write_bytes(content)
    return data


def test_workers_build_the_same_catalogue(builtin_data, tmp_path, monkeypatch):
    alone = load(builtin_data, tmp_path)
    monkeypatch.setattr(catalogue_build, "SMALL", 0)
    monkeypatch.setattr(catalogue_build, "BATCH", 90)
    shared = open_catalogue(builtin_data, cache=tmp_path / "other")
    names = sorted(path.name for path in alone.folder.iterdir())
    assert names == sorted(path.name for path in shared.folder.iterdir())
    for name in names:
        assert (alone.folder / name).read_bytes() == (shared.folder / name).read_bytes(), name


def test_a_bad_product_is_named_by_workers_too(data, tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue_build, "SMALL", 0)
    monkeypatch.setattr(catalogue_build, "BATCH", 2)
    records = [record(f"B{i:09d}", pricing="bad" if i == 3 else "") for i in range(40)]
    write(data, records)
    with pytest.raises(DataError, match=r"B000000003.*pricing"):
        load(data, tmp_path)


KILLED = """
import os, signal, sys
from pathlib import Path
from agentquest.benchmarks.webshop.catalogue import build as catalogue_build
from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
catalogue_build.BATCH = 50
def stop(done, total):
    if done > total // 3:
        os.kill(os.getpid(), signal.SIGKILL)
open_catalogue(sys.argv[1], cache=Path(sys.argv[2]), progress=stop)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_a_killed_build_leaves_nothing_that_is_taken_for_a_catalogue(builtin_data, tmp_path):
    cache = tmp_path / "cache"
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(builtin_data), str(cache)], timeout=120, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    left = list(cache.glob("*.tmp"))
    assert left
    catalogue = open_catalogue(builtin_data, cache=cache)
    assert len(catalogue) == 1000
    assert not list(cache.glob("*.tmp"))


BUILD = """
import sys
from pathlib import Path
from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
print(len(open_catalogue(sys.argv[1], cache=Path(sys.argv[2]))))
"""


def test_builds_at_the_same_time_do_no_harm(builtin_data, tmp_path):
    command = [sys.executable, "-c", BUILD, str(builtin_data), str(tmp_path / "cache")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    assert [process.communicate(timeout=120)[0].strip() for process in running] == [b"1000"] * 3
    assert len(list((tmp_path / "cache").glob("?" * 64 + "-?"))) == 1
    assert not list((tmp_path / "cache").glob("*.tmp"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_cache_is_named(data, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    with pytest.raises(DataError, match="locked"):
        open_catalogue(write(data, [record()]), cache=locked)


def test_a_cache_that_is_a_file_is_named(data, tmp_path):
    (tmp_path / "cache").write_text("x")
    with pytest.raises(DataError, match="cache"):
        load(write(data, [record()]), tmp_path)


def test_a_damaged_note_of_a_digest_is_made_again(data, tmp_path):
    write(data, [record()])
    first = load(data, tmp_path)
    for note in (tmp_path / "cache" / "digests").iterdir():
        note.write_text(f"damaged {time.time_ns()}")
    assert load(data, tmp_path).folder == first.folder


def test_special_searches_find_by_query_and_category(catalogue):
    teas = catalogue.with_query("teas")
    assert {catalogue.product(number).query for number in teas} == {"teas"}
    assert len(teas) == 25
    assert catalogue.with_query("no such query") == ()
    grocery = catalogue.in_category("grocery")
    assert set(teas) < set(grocery)
    assert np.all(np.diff(grocery) > 0)


@pytest.mark.parametrize("asin", ["REVIEWS", "BUY NOW", "FEATURES"])
def test_a_product_named_like_a_button_is_still_a_product(data, tmp_path, asin):
    listings = {
        asin: {
            "attributes": ["steel"],
            "instruction": "a kettle",
            "instruction_attributes": ["steel"],
        }
    }
    shop = Shop(load(write(data, [record(asin)], listings), tmp_path))
    session = ShoppingSession(shop, "0", shop.goals[0], random.Random(0))
    session.step("search[kettle]")
    step = session.step(f"click[{asin.lower()}]")
    assert (step.valid, session.asin) == (True, asin)
    assert session.step("click[reviews]").valid


def test_the_built_in_files_are_the_ones_they_are_known_by():
    digests = [hashlib.sha256(content).hexdigest() for content in official_files().values()]
    assert tuple(digests) == DIGESTS
