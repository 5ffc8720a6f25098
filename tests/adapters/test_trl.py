"""TRL's environments: the class it inspects, and its trainer on a model of our own making."""

import inspect
import json

import pytest
from adapter_scripts import SCRIPTS, run
from foreign import foreign_python

from agentquest import registry
from agentquest.adapters.trl_env import OVER, dataset_rows, environment_factory
from agentquest.errors import UserError

BUILTIN = {"data_path": "builtin"}


def _tools(made):
    functions = inspect.getmembers(made, predicate=inspect.isfunction)
    names = [name for name, _ in functions if not name.startswith("_")]
    return [name for name in names if name not in ("reset", "get_reward")]


@pytest.mark.parametrize("name", registry.names("benchmark"))
def test_every_benchmark_has_tools_with_hints_and_docstrings(name):
    settings = BUILTIN if name in ("alfworld", "webshop") else {}
    made = environment_factory(name, **settings)
    assert _tools(made)
    for tool in _tools(made):
        function = getattr(made(), tool)
        assert function.__name__ == tool
        parameters = inspect.signature(function).parameters
        assert all(each.annotation in (str, int) for each in parameters.values())
        assert "Args:" in function.__doc__
        assert all(f"    {name}: " in function.__doc__ for name in parameters)


def test_an_episode():
    environment = environment_factory("alfworld", max_steps=6, show_admissible=True, **BUILTIN)()
    rows = dataset_rows("alfworld", **BUILTIN)
    assert len(rows) == 134
    first = environment.reset(**rows[0])
    assert first.startswith("Goal: ")
    assert "Possible now: " in first
    for command in environment._player.session.plan():
        told = environment.act(command=command)
    assert told.endswith(OVER)
    assert environment.get_reward() == 1.0
    assert environment.act("look").endswith(OVER), "positional arguments are as good"
    assert environment.reset(**rows[0]) == first, "instances are used again"
    assert environment.get_reward() == 0.0
    assert "takes exactly: command" in environment.act(order="look")
    for _ in range(5):
        told = environment.act("look")
    assert told.endswith(OVER)
    with pytest.raises(UserError, match="task_id"):
        environment.reset(prompt=[])
    with pytest.raises(UserError, match="no task 'nothing'"):
        environment.reset(task_id="nothing")


def test_what_a_model_calls_wrongly_is_told_and_costs_a_step():
    environment = environment_factory("alfworld", **BUILTIN)()
    with pytest.raises(UserError, match="reset"):
        environment.get_reward()
    environment.reset(**dataset_rows("alfworld", **BUILTIN)[0])
    for wrong in ({"command": None}, {"command": ["look"]}, {}, {"a": 1, "b": 2}):
        assert "Nothing was done." in environment.act(**wrong)
    assert environment._player.session.last.steps == 4
    assert environment.get_reward() == 0.0


def test_webshop_and_typed_tools():
    shop = environment_factory("webshop", **BUILTIN)
    assert _tools(shop) == ["click", "search"]
    assert "act" not in _tools(environment_factory("alfworld", tools="typed", **BUILTIN))
    environment = shop()
    environment.reset(**dataset_rows("webshop", **BUILTIN)[0])
    for command in environment._player.session.plan():
        name, _, rest = command.partition("[")
        getattr(environment, name)(rest.removesuffix("]"))
    assert environment.get_reward() == 1.0


def test_the_real_trainer(tmp_path):
    python = foreign_python("trl")
    command = [python, SCRIPTS / "trl_train.py", tmp_path]
    said = json.loads(run(command, TRL_EXPERIMENTAL_SILENCE="1").splitlines()[-1])
    assert said == {"mean": 0.5, "rewards": [1.0, 0.0], "tools": ["act"], "tasks": 1}
