"""Environments over actors: the turns of one process, also after the loss of an actor."""

import contextlib
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentquest.adapters.arenas import shared_arena
from agentquest.adapters.ray_vector import RayVector
from agentquest.errors import DataError, UserError
from agentquest.lib import SessionVector, Task

ray = pytest.importorskip("ray", reason="Ray is not installed (extra `ray`)")
pytestmark = pytest.mark.long
SETTINGS = {"data_path": "builtin"}


@pytest.fixture(scope="module")
def vector(nodes: Any) -> Iterator[RayVector]:
    made = RayVector("alfworld", 20, 2, 12, SETTINGS, nodes.address, 3, {"num_cpus": 0.1})
    yield made
    made.close()


@pytest.fixture
def local() -> SessionVector:
    return SessionVector(shared_arena("alfworld", SETTINGS), 20, 2, 12)


def walk(vector: RayVector, local: SessionVector, steps: int, dice: random.Random) -> None:
    """The same commands in both, some possible, some not, some none at all."""
    for _ in range(steps):
        commands = [
            dice.choice([*turn.admissible, "jump", None])  # type: ignore[arg-type]
            for turn in local.turns
        ]
        assert vector.step(commands) == local.step(commands)
        assert vector.running == local.running


@pytest.mark.timeout(300)
def test_turns_are_those_of_one_process_to_the_end(vector: RayVector, local: SessionVector) -> None:
    dice = random.Random(1)
    tasks = list(range(20))
    assert vector.reset(tasks) == local.reset(tasks)
    walk(vector, local, 24, dice)
    assert not any(vector.running)
    assert vector.recreated == []
    assert vector.reset_slot(7) == local.reset_slot(7)
    assert vector.reset_slot(8, 99) == local.reset_slot(8, 99)
    walk(vector, local, 3, dice)


@pytest.mark.timeout(300)
def test_an_actor_that_dies_before_it_has_begun_is_made_anew(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, made = RayVector._new_actor, list[Any]()

    def make_and_lose_the_first(vector: RayVector) -> Any:
        made.append(make(vector))
        if len(made) == 1:
            ray.kill(made[0])
        return made[-1]

    monkeypatch.setattr(RayVector, "_new_actor", make_and_lose_the_first)
    vector = RayVector("mastermind", 2, 1, 3, None, cluster.address, 1, {"num_cpus": 0.1})
    assert [turn.steps for turn in vector.reset([0, 1])] == [0, 0]
    assert len(made) == 2
    vector.close()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("when", ["between steps", "before reset"])
def test_an_actor_that_is_killed_goes_on_where_it_was(
    vector: RayVector, local: SessionVector, when: str
) -> None:
    dice = random.Random(2)
    assert vector.reset(list(range(30, 50))) == local.reset(list(range(30, 50)))
    walk(vector, local, 5, dice)
    killed = vector._actors[1]
    ray.kill(killed)
    with contextlib.suppress(ray.exceptions.RayActorError):
        while True:  # it may answer a little longer
            ray.get(killed.versions.remote())
    if when == "before reset":
        assert vector.reset(list(range(20))) == local.reset(list(range(20)))
    else:
        walk(vector, local, 1, dice)
    assert vector.recreated == list(range(13, 26))
    walk(vector, local, 4, dice)
    assert vector.recreated == []


@pytest.mark.timeout(300)
def test_what_is_wrong_is_said_as_in_one_process(vector: RayVector, local: SessionVector) -> None:
    for each in (vector, local):
        with pytest.raises(UserError, match="got 39 commands for 40 slots"):
            each.step(["look"] * 39)
        with pytest.raises(UserError, match="got 3 tasks for 20 groups"):
            each.reset([1, 2, 3])
        with pytest.raises(UserError, match="there is no slot 40"):
            each.reset_slot(40)
    gone = Task("valid_unseen/x/y", "pick_and_place_simple", "valid_unseen", "/nowhere/at/all")
    with pytest.raises(DataError, match="/nowhere/at/all: no such game"):
        vector.reset_slot(0, gone)
    with pytest.raises(UserError, match=r"call reset\(\) first"):
        vector.step(["look"] * 40)


def test_tasks_of_a_script_on_the_stand_ins_get_them_too(cluster: Any, tmp_path: Path) -> None:
    script = tmp_path / "asks.py"
    script.write_text(
        "import os, ray\n"
        "path = {'env_vars': {'PYTHONPATH': os.environ['PYTHONPATH']}}\n"
        f"ray.init(address={cluster.address!r}, runtime_env=path, log_to_driver=False)\n"
        "@ray.remote\n"
        "def ask():\n"
        "    import web_agent_site.envs as envs\n"
        "    return envs.WebAgentTextEnv.__module__\n"
        "print(ray.get(ask.remote()))\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "agentquest.dropin", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.stdout.split()[-1:] == ["agentquest.adapters.webshop_dropin"], done.stderr[-2000:]
