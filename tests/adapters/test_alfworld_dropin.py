"""ALFWorld's interface on our engine: what unmodified scripts call, and what they get back."""

import json
import random
import sys

import numpy as np
import pytest
from adapter_scripts import SCRIPTS, alfworld_config, run, with_dropin, written

from agentquest.adapters.alfworld_dropin import (
    AlfredDemangler,
    AlfredExpert,
    AlfredInfos,
    AlfredTWEnv,
    get_environment,
)
from agentquest.adapters.textworld_core import AlfredGame, EnvInfos, Filter, Wrapper, start
from agentquest.adapters.textworld_gym import make, register_game, register_games
from agentquest.benchmarks.alfworld.benchmark import AlfWorldBenchmark
from agentquest.errors import UserError
from agentquest.lib import Explorer

GAME = "builtin:valid_unseen/{}/game.tw-pddl"


@pytest.fixture(autouse=True)
def _builtin(monkeypatch):
    monkeypatch.setenv("ALFWORLD_DATA", "builtin")


@pytest.fixture
def games():
    return AlfredTWEnv(alfworld_config(), train_eval="eval_out_of_distribution")


def _wrapped(*more):
    return [AlfredDemangler(), AlfredInfos, *more]


def test_a_split_has_its_games(games, capsys):
    assert games.num_games == len(games.game_files) == 134
    assert (
        AlfredTWEnv(alfworld_config(dataset__num_eval_games=5), "eval_in_distribution").num_games
        == 5
    )
    few = AlfredTWEnv(alfworld_config(env__task_types=[2, 9]), "eval_out_of_distribution")
    assert {file.split("/")[1].partition("-")[0] for file in few.game_files} == {
        "look_at_obj_in_light"
    }
    assert "Evaluating with 5 games" in capsys.readouterr().out


def test_the_order_of_games_is_numpys(games):
    env = games.init_env(batch_size=2)
    order = list(games.game_files)
    rng = np.random.RandomState(1234)
    rng.shuffle(order)
    expected = list(order)
    rng.shuffle(order)
    expected += order
    seen = []
    for _ in range(100):
        seen += env.reset()[1]["extra.gamefile"]
    assert seen == expected[:200]
    assert env.seed(7) == [7]
    env.skip(3)
    order = list(games.game_files)
    np.random.RandomState(7).shuffle(order)
    assert env.reset()[1]["extra.gamefile"] == order[3:5]


def test_shapes_are_tuples_of_results_and_lists_of_infos(games):
    env = games.init_env(batch_size=3)
    observations, infos = env.reset()
    assert isinstance(observations, tuple)
    assert observations[0].startswith("-= Welcome to TextWorld, ALFRED! =-\n\nYou are in")
    assert set(infos) == {"won", "admissible_commands", "extra.gamefile"}
    assert all(isinstance(values, list) and len(values) == 3 for values in infos.values())
    observations, scores, dones, infos = env.step(["look", " look ", "Look"])
    assert (scores, dones) == ((0, 0, 0), (False, False, False))
    assert observations[0] == observations[1] != observations[2] == "Nothing happens."
    assert infos["extra.gamefile"] == [None] * 3
    assert infos["admissible_commands"][0] == sorted(set(infos["admissible_commands"][0]))


def test_a_finished_game_repeats_itself_while_others_go_on(games):
    games.game_files = [GAME.format("/".join(_ids()[0].split("/")[1:]))] * 2
    games.num_games = 2
    env = games.init_env(batch_size=2)
    env.reset()
    for command in env.batch_env.envs[0].unwrapped.game.plan():
        result = env.step([command, "look"])
    assert (result[1], result[2], result[3]["won"]) == ((1, 0), (True, False), [True, False])
    again = env.step(["look", "inventory"])
    assert again[0][0] == result[0][0]
    assert again[3]["admissible_commands"][0] == result[3]["admissible_commands"][0]
    assert again[0][1] == "You are not carrying anything."


def test_a_limit_is_done_but_not_won():
    config = alfworld_config()
    config["rl"]["training"]["max_nb_steps_per_episode"] = 3
    env = AlfredTWEnv(config, "eval_in_distribution").init_env(batch_size=1)
    env.reset()
    results = [env.step(["look"]) for _ in range(4)]
    assert [result[2][0] for result in results] == [False, False, True, True]
    assert results[-1][1] == (0,)
    assert results[-1][3]["won"] == [False]


def test_auto_reset_starts_the_same_game_again():
    wanted = EnvInfos(won=True, extras=["gamefile"])
    env = make(
        register_games([_game(0)], wanted, batch_size=1, auto_reset=True, max_episode_steps=1,
                       wrappers=_wrapped())
    )  # fmt: skip
    first, _ = env.reset()
    assert env.step(["look"])[2] == (True,)
    observations, scores, dones, infos = env.step(["inventory"])
    assert (observations, scores, dones) == (first, (0.0,), (False,))
    assert infos["extra.gamefile"] == [_game(0)]


def test_the_expert_advises_only_when_training_with_dagger():
    config = alfworld_config(general__training_method="dagger")
    config["env"]["expert_type"] = "planner"  # which the original does not read either
    env = AlfredTWEnv(config, "train").init_env(batch_size=1)
    _, infos = env.reset()
    assert infos["extra.expert_plan"] == [["look"]]
    assert "facts" in infos
    steps = 0
    while not infos["won"][0]:
        (command,) = infos["extra.expert_plan"][0]
        assert command in infos["admissible_commands"][0]
        _, _, _, infos = env.step([command])
        steps += 1
    assert steps < 50
    assert (
        "extra.expert_plan"
        not in AlfredTWEnv(config, "eval_in_distribution").init_env(1).reset()[1]
    )


def test_the_expert_finds_the_way_from_wherever_the_learner_went(games):
    """As DAgger asks it: the learner does as it likes for a while, and errs later on too."""
    expert = AlfredExpert()
    rng = random.Random(3)
    won = 0
    for game in games.game_files[:30]:
        wanted = EnvInfos(won=True, admissible_commands=True, extras=["expert_plan"])
        env = make(register_game(game, wanted, max_episode_steps=150, wrappers=_wrapped(expert)))
        _, infos = env.reset()
        for step in range(150):
            (command,) = infos["extra.expert_plan"]
            assert command in infos["admissible_commands"]
            if step < 10 or rng.random() < 0.15:
                command = rng.choice([*infos["admissible_commands"], "open nothing 1", "jump"])
            _, _, done, infos = env.step(command)
            if done:
                break
        won += infos["won"]
    assert won == 30


def test_another_expert_can_be_asked():
    class Lazy(Explorer):
        def next_action(self, observation):
            return "inventory"

    class AskingLazy(AlfredExpert):
        expert = Lazy

    wanted = EnvInfos(extras=["expert_plan"])
    env = make(register_game(_game(0), wanted, wrappers=_wrapped(AskingLazy())))
    env.reset()
    assert env.step("look")[3]["extra.expert_plan"] == ["inventory"]


def test_wrappers_of_the_users_own_work_and_are_one_per_game():
    class Shouting(Wrapper):
        def step(self, command):
            state, score, done = super().step(command)
            state.feedback = state.feedback.upper()
            state["extra.loud"] = self.unwrapped.game.goal
            return state, score, done

    wanted = EnvInfos(feedback=True, moves=True, lost=True, last_command=True, extras=["loud"])
    env = make(
        register_games([_game(0), _game(100)], wanted, batch_size=2, wrappers=_wrapped(Shouting()))
    )
    env.reset()
    observations, _, _, infos = env.step(["look", " no "])
    assert observations[0].isupper()
    assert infos["extra.loud"][0] != infos["extra.loud"][1]
    assert infos["moves"] == [1, 0]
    assert infos["last_command"] == ["look", "no"]
    assert infos["lost"] == [False, False]


@pytest.mark.parametrize("wrong", [["look"], ["look"] * 3, (), "look"])
def test_a_wrong_batch_is_an_assertion(games, wrong):
    env = games.init_env(batch_size=2)
    env.reset()
    with pytest.raises(AssertionError):
        env.step(wrong)


def test_wrong_use_is_said_clearly(games):
    env = games.init_env(batch_size=1)
    with pytest.raises(UserError, match="reset"):
        env.step(["look"])
    env.reset()
    for wrong in (7, None, b"look"):
        with pytest.raises(UserError, match="text"):
            env.step([wrong])
    pair = games.init_env(batch_size=2)
    pair.reset()
    with pytest.raises(UserError, match="slot 1 must be text"):
        pair.step(["help", None])
    assert pair.last_commands == [None, None]
    assert pair.batch_env.envs[0].nb_steps == 0, "nothing was played"
    env.close()
    env.close()
    with pytest.raises(UserError, match="closed"):
        env.reset()
    with pytest.raises(UserError, match="batch_size"):
        games.init_env(batch_size=0)
    games.game_files = []
    with pytest.raises(UserError, match="no games"):
        games.init_env(batch_size=1)
    with pytest.raises(NotImplementedError, match="AlfredThorEnv"):
        get_environment("AlfredThorEnv")
    with pytest.raises(NotImplementedError, match="domain_randomization"):
        AlfredTWEnv(alfworld_config(env__domain_randomization=True), "train").init_env(1)
    with pytest.raises(NotImplementedError, match="ppo"):
        AlfredTWEnv(alfworld_config(general__training_method="ppo"), "train").init_env(1)
    with pytest.raises(UserError, match="AlfredDemangler"):
        make(register_game(_game(0))).reset()
    with pytest.raises(ValueError, match="unknown environment"):
        make("tw-nothing-v0")
    with pytest.raises(NotImplementedError, match="command_templates"):
        EnvInfos(command_templates=True)


def test_a_script_is_run_with_the_stand_ins(tmp_path):
    config = written(alfworld_config(), tmp_path)
    arguments = (config, "eval_out_of_distribution", 2, "dqn", 2, 6)
    out = with_dropin(SCRIPTS / "alfworld_walk.py", *arguments, ALFWORLD_DATA="builtin")
    lines = [line for line in out.splitlines() if line.startswith("[")]
    assert len(lines) == 1 + 2 * (1 + 9) + 1
    said = json.loads(with_dropin(SCRIPTS / "textworld_planner.py", _game(0)))
    assert said[0] == "tw-v0"
    assert said[6:10] == [1, True, True, 1]


def test_the_old_spelling_and_the_config_reader_work(tmp_path):
    script = tmp_path / "old.py"
    script.write_text(
        "import alfworld.agents.environment as environment\n"
        "import alfworld.agents.modules.generic as generic\n"
        "from alfworld.info import ALFWORLD_DATA\n"
        "config = generic.load_config()\n"
        "env = getattr(environment, config['env']['type'])(config, train_eval='train')\n"
        "print(ALFWORLD_DATA, env.config['general']['training_method'], __name__)\n"
        "try:\n    import alfworld.agents.agent\nexcept ModuleNotFoundError as e:\n    print(e)\n"
    )
    config = written(alfworld_config(), tmp_path)
    out = with_dropin(script, config, "-p", "general.training_method=dagger")
    assert "builtin dagger __main__" in out
    assert "No module named 'alfworld.agents.agent'" in out


def test_mistakes_on_the_command_line():
    with pytest.raises(AssertionError, match="no such script"):
        with_dropin("nowhere.py")
    with pytest.raises(AssertionError):
        run([sys.executable, "-m", "agentquest.dropin"])
    late = "import sys, types; sys.modules['alfworld'] = types.ModuleType('alfworld'); "
    late += "from agentquest.adapters import dropin; dropin()"
    with pytest.raises(AssertionError, match="already imported"):
        run([sys.executable, "-c", late])
    run([sys.executable, "-c", "from agentquest.adapters import dropin; dropin(); dropin()"])


def _ids():
    return [task.id for task in AlfWorldBenchmark(data_path="builtin").tasks()]


def _game(number):
    return f"builtin:{_ids()[number]}/game.tw-pddl"


def test_textworlds_start_loads_a_game_behind_wrappers():
    infos = EnvInfos(won=True, admissible_commands=True, extras=["walkthrough"])
    env = start(_game(0), infos, wrappers=[Filter, AlfredDemangler()])
    _, told = env.reset()
    for command in told["extra.walkthrough"]:
        _, score, done, told = env.step(command)
    assert (score, done, told["won"]) == (1, True, True)


def test_the_words_of_0_3_are_played_on_request_and_hinted_at(games, monkeypatch, capsys):
    monkeypatch.setattr(AlfredGame, "has_hinted", False)
    config = alfworld_config(env__task_types=[1], dataset__num_eval_games=1)
    game = AlfredTWEnv(config, "eval_out_of_distribution").game_files[0]

    def play():
        env = start(game, EnvInfos(extras=["walkthrough"]), wrappers=[Filter, AlfredDemangler()])
        plan = env.reset()[1]["extra.walkthrough"]
        for command in plan[:-1]:
            env.step(command)
        return env, plan[-1]

    env, last = play()
    assert last.startswith("move ")
    words = last.split(" to ")
    put = f"put {words[0].removeprefix('move ')} in/on {words[1]}"
    assert env.step(put)[0] == "Nothing happens."
    assert "AGENTQUEST_DIALECT=0.3" in capsys.readouterr().err
    env.step(put)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("AGENTQUEST_DIALECT", "0.3")
    env, last = play()
    assert last.startswith("put ")
    assert env.step(put)[2]
    monkeypatch.setenv("AGENTQUEST_DIALECT", "0.5")
    with pytest.raises(UserError, match=r"AGENTQUEST_DIALECT.* is 0\.3 or 0\.4"):
        play()


def test_a_configuration_chooses_the_words_of_its_own_games_only(monkeypatch):
    monkeypatch.delenv("AGENTQUEST_DIALECT", raising=False)

    def verbs(**changed):
        config = alfworld_config(env__task_types=[1], dataset__num_eval_games=1, **changed)
        env = AlfredTWEnv(config, "eval_out_of_distribution").init_env(batch_size=1)
        env.reset()
        plan = env.batch_env.envs[0].unwrapped.game.plan()
        return {command.split()[0] for command in plan}

    assert "put" in verbs(env__dialect="0.3")
    assert "move" in verbs(), "an environment made later is not changed by it"
