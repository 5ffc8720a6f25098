"""Goals chosen by number, and those that GiGPO's validation plays."""

import pytest

from agentquest.adapters.verl_agent import build_webshop_envs
from agentquest.benchmarks.webshop.tasks import AS_PUBLISHED
from agentquest.errors import ConfigError
from agentquest.lib import Task
from agentquest.running.factory import make_benchmark


def tasks(**settings: object) -> list[Task]:
    return make_benchmark("webshop", {"data_path": "builtin", **settings}).tasks()


def numbers(**settings: object) -> list[int]:
    return [int(task.problem) for task in tasks(**settings)]


def test_goals_by_number_are_of_whatever_split() -> None:
    assert numbers(numbers="0-199") == list(range(200))
    assert numbers(numbers=[3, 501, 3]) == [3, 501]
    assert [task.split for task in tasks(numbers=[3, 501])] == ["test", "dev"]
    assert len(numbers()) == 500


@pytest.mark.parametrize("wrong", ["9-3", "some", "0-"])
def test_what_names_no_goals_is_refused(wrong: str) -> None:
    with pytest.raises(ConfigError, match="numbers: must be a list of numbers, a range such as"):
        tasks(numbers=wrong)


def test_a_goal_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match="there is no goal 999999"):
        tasks(numbers=[999_999])


def test_the_goals_as_published_are_those_of_the_trainer_s_validation() -> None:
    shop = make_benchmark("webshop", {"data_path": "builtin"})
    given = {"file_path": "builtin", "goal_order": "as-published"}
    envs = build_webshop_envs(1000, 128, 1, is_train=False, env_kwargs=given)
    envs.reset()
    wanted = [session.goal for session in envs.vector.sessions]
    chosen = make_benchmark("webshop", {"data_path": "builtin", "numbers": AS_PUBLISHED})
    found = [shop.driver(task).reset().text.split(" [SEP] ")[2] for task in chosen.tasks()]
    assert 100 < len(found) <= 128
    assert without_price(found) == without_price(wanted)


def without_price(wishes: list[str]) -> set[str]:
    """Price limits are drawn otherwise in the trainer's environment."""
    return {wish.partition(", and price")[0] for wish in wishes}
