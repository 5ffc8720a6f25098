"""What is said of a purchase: what was wrong with it, and that the goal is out of reach then."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from test_webshop_reward import GOAL, NOUNS, PRODUCT, RIGHT

from agentquest.api import evaluate
from agentquest.benchmarks.webshop.shop.goals import Goal
from agentquest.benchmarks.webshop.shop.reward import explain_purchase, score
from agentquest.records.outcome import End
from agentquest.reports.exports.atif import trajectory
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.replay import analyse_episode


@pytest.mark.parametrize(
    ("price", "options", "goal", "said"),
    [
        (
            51.0, {"color": "navy"}, GOAL,
            "Bought the product meant. Kind of product: right. Attributes: 2 of 2 met."
            " Options: 1 of 2 met; missed: large. Price: above the limit.",
        ),
        (
            40.0, RIGHT, replace(GOAL, asin="B9", attributes=("light weight", "steel toe")),
            "Bought B000000001 instead of B9. Kind of product: right."
            " Attributes: 1 of 2 met; missed: steel toe. Options: 2 of 2 met."
            " Price: within the limit.",
        ),
        (
            40.0, {}, replace(GOAL, goal_options={"color": "navy"}),
            "Bought the product meant. Kind of product: right. Attributes: 2 of 2 met."
            " Options: 0 of 1 met; missed: color: navy. Price: within the limit.",
        ),
        (
            40.0, {},
            replace(GOAL, asin="B9", name="Kettle", query="kettles", product_category="Kitchen",
                    goal_options=()),
            "Bought B000000001 instead of B9. Kind of product: wrong: no score."
            " Attributes: 2 of 2 met. Price: within the limit.",
        ),
    ],
)  # fmt: skip
def test_a_purchase_is_explained_from_the_parts_of_its_reward(
    price: float, options: dict[str, str], goal: Goal, said: str
) -> None:
    details = score(PRODUCT, price, options, goal, NOUNS).details
    assert explain_purchase(goal, PRODUCT.asin, details) == said


@pytest.fixture(scope="module")
def run(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredRun]:
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTQUEST_CACHE", str(cache))
        evaluate(
            benchmark="webshop", agent="clumsy", num_games=12, run_name="w", output_dir=folder,
            benchmark_settings={"data_path": "builtin"},
        )  # fmt: skip
        yield StoredRun(folder / "w")


def test_a_failed_purchase_ends_out_of_reach_and_is_the_harmful_step(run: StoredRun) -> None:
    failed = [record for record in run.records if record.end is End.FAILED]
    assert failed
    for record in failed:
        seen = analyse_episode(record, run.manifest)
        last = len(record.steps)
        assert record.steps[-1].action == "click[buy now]"
        assert seen.distances[-1] is None
        assert seen.lost_for_good == seen.first_harmful == last
        assert record.explanation.startswith("Bought ")
        assert record.explanation in trajectory(record)["notes"]


def test_a_right_purchase_reaches_the_goal(run: StoredRun) -> None:
    solved = [record for record in run.records if record.success]
    assert solved
    for record in solved:
        seen = analyse_episode(record, run.manifest)
        assert (seen.distances[-1], seen.first_harmful, record.explanation) == (0, None, "")
