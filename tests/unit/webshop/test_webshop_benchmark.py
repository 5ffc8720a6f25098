"""Goals as tasks: splits, names, hashes, settings, and what a prompt shows."""

import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentquest.benchmarks.webshop import WebshopDriver
from agentquest.benchmarks.webshop.benchmark import WebshopBenchmark
from agentquest.benchmarks.webshop.pictures import draw_pages
from agentquest.benchmarks.webshop.shop.shop import Shop
from agentquest.benchmarks.webshop.tasks import (
    CATEGORIES,
    SPLITS,
    data_root,
    numbers_of,
    split_of,
)
from agentquest.errors import ConfigError, DataError, UnknownName
from agentquest.lib.types import Moment
from agentquest.running.factory import make_benchmark
from growth import MOST, growth, repeated
from shared_data import WEBSHOP, needs_webshop


@pytest.fixture(scope="module", autouse=True)
def _cache(cache: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTQUEST_CACHE", str(cache))
        patch.delenv("WEBSHOP_DATA", raising=False)
        yield


def built_in(**settings: object) -> WebshopBenchmark:
    return WebshopBenchmark(data_path="builtin", **settings)  # type: ignore[arg-type]


def test_splits_are_those_of_the_original(shop: Shop) -> None:
    goals = len(shop.goals)
    ranges = [numbers_of(name, goals) for name in SPLITS]
    assert ranges == [range(500), range(500, 1500), range(1500, goals)]
    assert [n for part in ranges for n in part] == list(range(goals))
    assert all(split_of(n) == name for name in SPLITS for n in numbers_of(name, goals))
    assert numbers_of("test", 13) == range(13)
    assert len(numbers_of("dev", 13)) == len(numbers_of("train", 13)) == 0


def test_a_task_is_called_alike_everywhere_and_opens_its_goal(shop: Shop) -> None:
    tasks = built_in().tasks()
    assert len(tasks) == 500
    for number, task in enumerate(tasks[:20]):
        goal = shop.goals[number]
        assert task.id == f"synthetic/test/{number}-{goal.asin}"
        assert (task.task_type, task.split) == (goal.category, "test")
        driver = built_in().driver(task)
        assert goal.instruction_text in driver.reset().text
        assert driver.metrics.goal == goal.instruction_text
    assert built_in(split="eval").tasks() == built_in(split="dev").tasks()
    assert built_in(split="dev").tasks()[0].id.startswith("synthetic/dev/500-")
    assert built_in(goals="human").tasks()[0].id.startswith("human/test/0-")


def test_task_types_are_the_categories_by_name_or_number() -> None:
    everything = built_in().tasks()
    assert {task.task_type for task in everything} == set(CATEGORIES)
    fashion = [task for task in everything if task.task_type == "fashion"]
    assert built_in(task_types=["fashion"]).tasks() == fashion
    assert built_in(task_types=[3]).tasks() == built_in(task_types=["3"]).tasks() == fashion


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"split": "valid_unseen"}, "not a split of webshop; there are: test, dev, train"),
        ({"task_types": ["grocerry"]}, "did you mean 'grocery'"),
        ({"task_types": [0]}, "not a task type"),
        ({"task_types": ["0000000011"]}, "not a task type"),
        ({"goals": "people"}, "webshop.goals: must be 'synthetic' or 'human'"),
        ({"strict": "perhaps"}, "webshop.strict: must be true or false"),
        ({"seed": "many"}, "webshop.seed: must be a whole number"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises((ConfigError, UnknownName), match=message):
        built_in(**settings)


def test_settings_it_does_not_have_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"benchmark_settings\.dialect: unknown key"):
        make_benchmark("webshop", {"dialect": "0.3"})


def test_data_is_found_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_root(None) is None
    assert data_root("builtin") is None
    assert data_root(tmp_path) == tmp_path
    folder = tmp_path / ".cache" / "agentquest" / "webshop-data"
    folder.mkdir(parents=True)
    assert data_root(None) is None, "an empty folder is no data"
    (folder / "items_shuffle_1000.json").write_text("[]")
    assert data_root(None) == folder
    monkeypatch.setenv("WEBSHOP_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="nowhere: no WebShop data there"):
        WebshopBenchmark().tasks()


def test_the_hash_of_a_task_covers_all_that_decides_it() -> None:
    task = built_in().tasks()[0]

    def hash_with(**settings: object) -> str:
        benchmark = built_in(**settings)
        assert benchmark.driver(task).data_hash == benchmark.driver(task).data_hash
        return benchmark.driver(task).data_hash

    hashes = [hash_with(), hash_with(seed=1), hash_with(strict=True), hash_with(goals="human")]
    assert len(set(hashes)) == len(hashes)
    assert all(len(found) == 64 for found in hashes)
    tasks = built_in().tasks()
    assert built_in().fingerprint(tasks[:5]) != built_in(seed=1).fingerprint(tasks[:5])
    assert built_in().fingerprint(tasks[:5]) == built_in().fingerprint(tasks[:5])


def test_provenance_says_what_was_played() -> None:
    provenance = built_in(goals="human", seed=3).provenance()
    assert provenance.data == "builtin"
    details = dict(provenance.details)
    assert details.pop("nouns")
    assert details == {"goals": "human", "seed": "3", "strict": "false", "products": "1000"}


@pytest.mark.parametrize("goals", ["synthetic", "human"])
def test_examples_are_won_purchases_of_the_same_category_and_never_the_task(goals: str) -> None:
    benchmark = built_in(goals=goals, split="train")
    wishes = {shop_goal.instruction_text for shop_goal in benchmark.shop.goals[:1500]}
    for task in [next(t for t in benchmark.tasks() if t.task_type == c) for c in CATEGORIES]:
        shown = benchmark.briefing(benchmark.driver(task), task, 2).demonstrations
        assert len(shown) == 2
        own = benchmark.shop.goals[int(task.problem)].instruction_text
        for example in shown:
            assert example.goal != own
            assert example.goal not in wishes or goals == "human"
            assert example.first_observation.startswith("WebShop [SEP] Instruction: [SEP] ")
            thoughts, actions, observations = zip(*example.turns, strict=True)
            assert all(thoughts)
            assert actions[0].startswith("search[")
            assert actions[-1] == "click[buy now]"
            assert "[SEP] Your score (min 0.0, max 1.0) [SEP] 1.0 [SEP]" in observations[-1]


def test_drivers_share_the_shop_and_pickle() -> None:
    benchmark = built_in()
    first, second = (benchmark.driver(task) for task in benchmark.tasks()[:2])
    assert isinstance(first, WebshopDriver)
    begun = first.reset()
    copy = pickle.loads(pickle.dumps(first))
    assert copy.oracle_actions() == first.oracle_actions()
    second.reset()
    copy.step_raw("Action: search[tea]")
    assert first.reset() == begun


@needs_webshop
def test_the_official_small_catalogue_has_its_known_numbers_of_goals() -> None:
    real = WebshopBenchmark(data_path=WEBSHOP / "data")
    assert len(real.shop.goals) == 6910
    assert len(real.tasks()) == 500
    assert real.provenance().data == "real"
    human = WebshopBenchmark(data_path=WEBSHOP / "data", goals="human")
    assert len(human.tasks()) == 13


def test_drawing_a_page_costs_what_its_length_does() -> None:
    """A product may have any number of options."""

    def draw(text: str) -> None:
        options = text.split()
        page = " [SEP] ".join(["Back to Search", "color", *options])
        (drawn,) = draw_pages([Moment(page, [f"click[{option}]" for option in options])])
        assert drawn is not None
        assert options[-1] in drawn

    words = repeated("navy ")
    assert growth(draw, words, start=20_000) < MOST
