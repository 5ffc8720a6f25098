"""The run that is printed in the WebShop document, line by line."""

import ast
import json

import pytest

from agentquest.benchmarks.webshop import WebshopAction, WebshopDriver
from agentquest.benchmarks.webshop.shop.shop import Shop
from shared_data import SHARED, needs_webshop

pytestmark = needs_webshop


@pytest.fixture(scope="module")
def document():
    (path,) = (SHARED / "seeds").glob("004_*")
    return path.read_text("utf-8")


@pytest.fixture(scope="module")
def printed(document):
    """What the document prints for `export()`."""
    start = document.index("{'goal'")
    return ast.literal_eval(document[start : document.index("```", start)])


@pytest.fixture
def driver(catalogue, recorded_nouns):
    return WebshopDriver(shop=Shop(catalogue, nouns=recorded_nouns))


def _block_with(document, text):
    at = document.index(text)
    start = document.rindex("```\n", 0, at) + len("```\n")
    return document[start : document.index("\n```", at)]


def test_reset_prints_the_documented_text(driver, document):
    block = _block_with(document, "Welcome to WebShop")
    # The document's own run was drawn twice: this text has 40 dollars, all later ones 50.
    assert driver.reset().output == block.replace("lower than 40.00", "lower than 50.00")


def test_the_printed_run_comes_out_exactly(driver, printed, document):
    driver.reset()
    for action in printed["actions"]:
        observation = driver.step(WebshopAction(**action))
    exported = driver.metrics.export(
        repetition_function_kwargs={"theta_a": 1, "num_execution_steps": 10}
    )
    assert exported == printed
    assert list(exported) == list(printed)
    assert json.dumps(exported["states"]) == json.dumps(printed["states"])  # order of keys too
    assert exported["progress"][-1] == pytest.approx(1 / 30)
    assert observation.success
    assert not observation.can_proceed
    assert driver.outcome.done
    assert not driver.outcome.success


def test_the_printed_run_comes_out_with_our_own_tagger(catalogue, printed):
    driver = WebshopDriver(shop=Shop(catalogue))
    driver.reset()
    for action in printed["actions"]:
        driver.step(WebshopAction(**action))
    assert driver.metrics.export({"num_execution_steps": 10}) == printed
    assert driver.details()["nouns"] == driver.details()["reward"]["nouns"]


def test_a_step_prints_the_documented_text(driver, document):
    driver.reset()
    observation = driver.step_raw("Here it is. Action: search[women jumpsuits]")
    assert observation.output == _block_with(document, "Page 1 (Total results: 50)")
