"""Gymnasium's own checks, and our vector beside Gymnasium's."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the extra `gymnasium` is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv  # noqa: E402
from gymnasium.vector.utils import (  # noqa: E402
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)

import agentquest.adapters.gymnasium_env as ours  # noqa: E402
from agentquest import registry  # noqa: E402
from agentquest.errors import UserError  # noqa: E402

BUILTIN = {"data_path": "builtin"}
SMALL = {**BUILTIN, "max_steps": 4}


def _id(name):
    return f"agentquest/{name}-v0"


def test_every_benchmark_and_split_has_an_id():
    for name in registry.names("benchmark"):
        assert _id(name) in gymnasium.registry
        for split in registry.load("benchmark", name).splits:
            assert _id(f"{name}-{split}") in gymnasium.registry
    env = gymnasium.make(_id("alfworld-valid_seen"), **BUILTIN)
    assert env.reset(seed=1)[1]["task"].startswith("valid_seen/")


@pytest.mark.parametrize("name", ["alfworld", "webshop"])
def test_gymnasiums_checker_has_nothing_to_say(name):
    env = gymnasium.make(_id(name), render_mode="ansi", **BUILTIN)
    check_env(env.unwrapped)


@pytest.mark.parametrize("name", ["alfworld", "webshop"])
def test_an_episode(name):
    env = gymnasium.make(_id(name), **BUILTIN)
    first, info = env.reset(options={"task": 5})
    assert env.reset(options={"task": info["task"]})[0] == first
    assert env.observation_space.contains(first)
    for command in env.unwrapped.session.plan():
        assert env.action_space.contains(command)
        text, reward, terminated, truncated, info = env.step(command)
        assert env.observation_space.contains(text)
    assert (reward, terminated, truncated, info["won"]) == (1.0, True, False, True)
    assert env.step("look")[0] == text, "nothing changes after the end"
    env.reset(seed=3)
    assert not env.step("nonsense")[4]["valid"]
    with pytest.raises(UserError, match="unknown 'game'"):
        env.reset(options={"game": 1})
    env.close()
    with pytest.raises(UserError, match="closed"):
        env.step("look")


def test_the_limit_truncates():
    env = gymnasium.make(_id("alfworld"), **SMALL)
    env.reset(seed=0)
    flags = [env.step("look")[2:4] for _ in range(4)]
    assert flags == [(False, False)] * 3 + [(False, True)]


def _same(ours, theirs):
    assert set(ours) == set(theirs)
    for key, value in theirs.items():
        if isinstance(value, dict):
            _same(ours[key], value)
        else:
            assert ours[key].dtype == value.dtype, key
            mask = theirs.get(f"_{key}", np.ones(len(value), bool))
            assert ours[key][mask].tolist() == value[mask].tolist(), key


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("name", ["alfworld", "webshop"])
def test_the_native_vector_does_what_gymnasiums_does(name, mode):
    number = 3
    settings = {**SMALL, "benchmark": name}
    native = gymnasium.make_vec(_id(name), num_envs=number, autoreset_mode=mode, **SMALL)
    theirs = SyncVectorEnv(
        [lambda: ours.TextEnv(**settings)] * number, autoreset_mode=AutoresetMode(mode)
    )
    assert native.metadata["autoreset_mode"] is AutoresetMode(mode)
    assert native.single_observation_space == theirs.single_observation_space
    assert native.observation_space == theirs.observation_space
    mine, reference = native.reset(seed=11), theirs.reset(seed=11)
    assert mine[0] == reference[0]
    _same(mine[1], reference[1])
    for step in range(11):
        actions = [plan[0] if step % 3 else "look" for plan in _plans(native)]
        mine, reference = native.step(actions), theirs.step(actions)
        assert mine[0] == reference[0]
        for left, right in zip(mine[1:4], reference[1:4], strict=True):
            assert left.dtype == right.dtype
            assert left.tolist() == right.tolist()
        _same(mine[4], reference[4])
    native.close()
    theirs.close()


def _plans(native):
    return [session.plan() or ["look"] for session in native.vector.sessions]


@pytest.mark.parametrize("shared_memory", [True, False])
def test_gymnasiums_asynchronous_vector_reads_any_text(shared_memory):
    def make():
        return gymnasium.make(_id("webshop"), **SMALL)

    envs = AsyncVectorEnv([make, make], shared_memory=shared_memory)
    alone = make()
    try:
        observations, _ = envs.reset(options={"task": 0})
        assert observations == (alone.reset(options={"task": 0})[0],) * 2
        for command in ("search[café – 5' × 3]", "search[shirt]"):
            observations, *_ = envs.step((command, command))
            assert observations == (alone.step(command)[0],) * 2
    finally:
        envs.close()


def test_a_shared_text_may_hold_every_character():
    space = ours.AnyText(10)
    shared = create_shared_memory(space, n=2)
    for texts in (("ä€\U0001f600\n-", ""), ("", "x" * 10), ("\U0001f600" * 10, "\ud800")):
        for place, text in enumerate(texts):
            write_to_shared_memory(space, place, text, shared)
        assert tuple(read_from_shared_memory(space, shared, n=2)) == texts


def test_without_autoreset_slots_wait_for_a_mask():
    wanted = {"autoreset_mode": "Disabled", "group_n": 2, **SMALL}
    envs = gymnasium.make_vec(_id("alfworld"), num_envs=4, **wanted)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    first, infos = envs.reset(seed=5)
    assert first[0] == first[1]
    assert first[2] == first[3]
    assert infos["task"][0] != infos["task"][2]
    for _ in range(4):
        texts, _, _, truncated, _ = envs.step(["inventory"] * 4)
    assert truncated.all()
    again = envs.step(["look"] * 4)
    assert again[0] == texts, "a slot that is over repeats itself"
    mask = np.array([True, True, False, False])
    texts, infos = envs.reset(options={"reset_mask": mask})
    assert texts[2:] == again[0][2:]
    assert infos["_task"].tolist() == mask.tolist()
    assert texts[0] == texts[1]
    _, _, _, truncated, _ = envs.step(["look"] * 4)
    assert truncated.tolist() == [False, False, True, True]
    tasks = [0, 0, 9, 9]
    _, infos = envs.reset(options={"tasks": tasks, "split": "train"})
    assert all(task.startswith("train/") for task in infos["task"])


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_wrong_actions_are_said_clearly_and_change_nothing(mode):
    envs = gymnasium.make_vec(_id("alfworld"), num_envs=2, autoreset_mode=mode, **SMALL)
    with pytest.raises(UserError, match="reset"):
        envs.step(["look", "look"])
    envs.reset(seed=1)
    for wrong in (["look"], ["look"] * 3, "ab", 7, None):
        with pytest.raises(UserError, match=r"for 2|must be a list"):
            envs.step(wrong)
    for wrong in (["look", 4], ["look", None], [b"look", "look"]):
        with pytest.raises(UserError, match="text"):
            envs.step(wrong)
    assert [turn.steps for turn in envs.unwrapped.vector.turns] == [0, 0]
    envs.step(np.array(["look", "inventory"]))
    assert [turn.steps for turn in envs.unwrapped.vector.turns] == [1, 1]
    envs.close()
    with pytest.raises(UserError, match="closed"):
        envs.step(["look", "look"])


def test_one_environment_says_what_is_wrong():
    env = gymnasium.make(_id("alfworld"), **SMALL).unwrapped
    with pytest.raises(UserError, match="reset"):
        env.step("look")
    env.reset(seed=1)
    with pytest.raises(UserError, match="text"):
        env.step(7)
    with pytest.raises(UserError, match="there are: split, task"):
        env.reset(options={"tasks": [1]})
    env.close()
    with pytest.raises(UserError, match="closed"):
        env.reset()


def test_wrong_batches_are_said_clearly():
    envs = gymnasium.make_vec(_id("alfworld"), num_envs=2, **SMALL)
    envs.reset(seed=1)
    with pytest.raises(UserError, match="reset_mask"):
        envs.reset(options={"reset_mask": np.array([False, False])})
    with pytest.raises(UserError, match="seeds"):
        envs.reset(seed=[1])
    with pytest.raises(UserError, match="tasks"):
        envs.reset(options={"tasks": [1]})
    with pytest.raises(UserError, match="group_n"):
        gymnasium.make_vec(_id("alfworld"), num_envs=4, group_n=2, **SMALL)
