"""verl-agent's environments: signatures, shapes, groups, and no goal in two splits."""

import random

import numpy as np
import pytest
import yaml
from adapter_scripts import alfworld_config

from agentquest.adapters.alfworld_dropin import AlfredTWEnv
from agentquest.adapters.verl_agent import (
    alfworld_projection,
    build_alfworld_envs,
    build_webshop_envs,
    webshop_projection,
)
from agentquest.errors import UserError

SHOP = {"file_path": "builtin", "observation_mode": "text", "num_products": None}


@pytest.fixture
def config_file(tmp_path, monkeypatch):
    monkeypatch.setenv("ALFWORLD_DATA", "builtin")
    file = tmp_path / "config_tw.yaml"
    file.write_text(yaml.safe_dump(alfworld_config()))
    return str(file)


def _alfworld(config_file, **changed):
    wanted = {"seed": 3, "env_num": 2, "group_n": 3, "resources_per_worker": {"num_cpus": 0.1}}
    return build_alfworld_envs(config_file, **{**wanted, **changed})


def test_alfworld_has_the_published_shapes(config_file):
    envs = _alfworld(config_file, is_train=True, env_kwargs={})
    assert (envs.num_processes, envs.group_n, envs.multi_modal) == (6, 3, False)
    texts, images, infos = envs.reset()
    assert images is None
    assert len(texts) == len(infos) == 6
    assert set(infos[0]) == {"won", "admissible_commands", "extra.gamefile", "observation_text"}
    assert infos[0]["extra.gamefile"].endswith("/game.tw-pddl")
    assert envs.get_admissible_commands == [info["admissible_commands"] for info in infos]
    texts, images, rewards, dones, infos = envs.step(["look"] * 6)
    assert (images, rewards, dones) == (None, [0.0] * 6, [False] * 6)
    assert infos[4]["observation_text"] == texts[4]


def test_a_group_plays_one_sequence_of_games_seeded_by_its_place(config_file, capsys):
    envs = _alfworld(config_file)
    games = AlfredTWEnv(alfworld_config(), "train")
    capsys.readouterr()
    for group in range(2):
        env = games.init_env(batch_size=1)
        env.seed(3 + group)
        envs_again = _alfworld(config_file)
        for _ in range(4):
            expected = env.reset()[1]["extra.gamefile"][0]
            played = [info["extra.gamefile"] for info in envs_again.reset()[2]]
            assert played[group * 3 : group * 3 + 3] == [expected] * 3
    assert envs.vector.group_n == 3


def test_won_pays_ten_and_a_finished_game_stays_as_it_is(config_file):
    envs = _alfworld(config_file, is_train=False, env_num=1, group_n=2,
                     env_kwargs={"eval_dataset": "eval_out_of_distribution"})  # fmt: skip
    envs.reset()
    assert envs.vector.sessions[0].task.id.startswith("builtin:valid_unseen/")
    for command in envs.vector.sessions[0].plan():
        result = envs.step([command, "look"])
    assert (result[2], result[3]) == ([10.0, 0.0], [True, False])
    assert result[4][0]["won"]
    again = envs.step(["look", "inventory"])
    assert again[0][0] == result[0][0]
    assert again[2][0] == 10.0
    with pytest.raises(UserError, match="3 commands"):
        envs.step(["look"] * 3)
    envs.close()
    with pytest.raises(UserError, match="closed"):
        envs.reset()


def test_alfworld_refuses_what_it_does_not_play(config_file, tmp_path):
    for changed in ({"env__type": "AlfredThorEnv"}, {"env__domain_randomization": True}):
        file = tmp_path / "other.yaml"
        file.write_text(yaml.safe_dump(alfworld_config(**changed)))
        with pytest.raises(NotImplementedError):
            _alfworld(str(file))


def test_wrong_batches_change_nothing(config_file):
    envs = build_alfworld_envs(config_file, 0, 2, 1, None)
    envs.reset()
    for wrong in (["look"], "ab", ["look", 7], ["look", None], None):
        with pytest.raises(UserError, match=r"for 2 slots|must be"):
            envs.step(wrong)
    assert [turn.steps for turn in envs.vector.turns] == [0, 0]
    envs.close()
    with pytest.raises(UserError, match="closed"):
        envs.step(["look", "look"])


def test_webshop_has_the_published_shapes():
    before = random.getstate()
    envs = build_webshop_envs(seed=1, env_num=3, group_n=2, resources_per_worker={"num_cpus": 0.1},
                              is_train=True, env_kwargs=SHOP)  # fmt: skip
    assert random.getstate() == before, "the trainer's own dice are left alone"
    texts, infos = envs.reset()
    assert texts[0] == texts[1] != texts[2]
    chosen = np.random.RandomState(1).choice(range(500, len(envs.goals)), size=3, replace=False)
    wishes = [envs.goals[int(number)]["instruction_text"] for number in chosen]
    assert all(wish in text for wish, text in zip(wishes, texts[::2], strict=True))
    assert set(infos[0]) == {"available_actions", "won"}
    texts, rewards, dones, infos = envs.step(["search[shirt]"] * 6)
    assert (rewards, dones) == ([0] * 6, [False] * 6)
    assert set(infos[0]) == {"available_actions", "task_score", "won"}


def test_a_purchase_pays_ten_only_if_it_is_right_and_nothing_resets_by_itself():
    envs = build_webshop_envs(seed=1, env_num=2, is_train=False, env_kwargs=SHOP)
    envs.reset()
    goal = _goal(envs, 0)
    *_, infos = envs.step([f"search[{goal['name']}]", "search[shirt]"])
    while goal["asin"].lower() not in infos[0]["available_actions"]["clickables"]:
        *_, infos = envs.step(["click[next >]", "nonsense"])
    envs.step([f"click[{goal['asin'].lower()}]", "nonsense"])
    for value in goal["goal_options"].values():
        envs.step([f"click[{value}]", "nonsense"])
    texts, rewards, dones, infos = envs.step(["click[buy now]", "nonsense"])
    assert (rewards, dones) == ([10.0, 0], [True, False])
    assert (infos[0]["won"], infos[0]["task_score"]) == (True, 1.0)
    assert envs.step(["search[more]", "nonsense"])[0][0] == texts[0]


def _goal(envs, slot):
    return envs.vector.sessions[slot].game.session.goal.as_dict()


def _goals(envs, number):
    seen = set()
    for _ in range(number):
        envs.reset()
        for slot in range(envs.num_processes):
            goal = _goal(envs, slot)
            seen.add((goal["asin"], str(goal["goal_options"])))
    return seen


def test_no_goal_is_in_training_and_validation_unless_asked_for_as_published():
    def both(**more):
        made = [
            build_webshop_envs(seed=seed, env_num=100, is_train=is_train,
                               env_kwargs={**SHOP, **more})
            for is_train, seed in ((True, 0), (False, 1000))
        ]  # fmt: skip
        return _goals(made[0], 8) & _goals(made[1], 5)

    assert not both()
    assert both(goal_order="as-published")


def test_webshop_says_what_is_wrong():
    with pytest.raises(UserError, match="group_n is 1"):
        build_webshop_envs(group_n=2, is_train=False, env_kwargs=SHOP)
    with pytest.raises(UserError, match="goal_order"):
        build_webshop_envs(env_kwargs={**SHOP, "goal_order": "mine"})
    envs = build_webshop_envs(env_num=2, env_kwargs=SHOP)
    envs.reset()
    for wrong in (["a"], "ab", ["search[a]", 7], ["search[a]", None], None):
        with pytest.raises(UserError, match=r"for 2 slots|must be"):
            envs.step(wrong)
    assert [turn.steps for turn in envs.vector.turns] == [0, 0]
    envs.close()
    with pytest.raises(UserError, match="closed"):
        envs.reset()


@pytest.mark.parametrize(
    ("reply", "command", "valid"),
    [
        ("<think>a</think><action> Go to Desk 1 </action>", "go to desk 1", 1),
        ("<action>look</action>", "look", 0),
        ("<THINK>a</THINK><action>look</action>", "look", 0),
        ("<think>\u4e2d</think><action>look</action>", "look", 0),
        ("<think>a</think>I would say that one should LOOK", "ld say that one should look", 0),
        ("<think>a</think><action>a</action><action>b</action>", "a", 1),
    ],
)
def test_projections(reply, command, valid):
    given = [reply]
    commands, valids = alfworld_projection(given, [["look"]])
    assert valids == [valid]
    assert commands[0].endswith(command)
    assert len(commands[0]) <= 30
    assert webshop_projection(given)[1] == [valid]
    assert given == [reply]


def test_a_reply_without_an_action_is_played_by_its_end():
    text = "x" * 100
    assert alfworld_projection([text], [[]]) == (["x" * 30], [0])
    assert webshop_projection([text]) == (["x" * 20], [0])
