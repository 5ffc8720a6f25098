"""Public scripts run unchanged: reloads, child processes, and the rest of their packages."""

import os
import shutil
import subprocess
import sys

import pytest
from adapter_scripts import SCRIPTS, alfworld_config, with_dropin, written

OURS = "agentquest.adapters"


def fails(*code):
    """What Python says of code that must fail under the stand-ins."""
    lines = ("from agentquest.adapters import dropin", "dropin()", *code)
    command = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done.stderr.strip().splitlines()[-1]


def write_files(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")


def test_a_package_can_be_reloaded_and_one_game_opened(tmp_path):
    config = written(alfworld_config(), tmp_path)
    said = with_dropin(SCRIPTS / "reloaded_alfworld.py", config, ALFWORLD_DATA="builtin")
    assert said.splitlines()[-1] == "True"
    assert said.count("Evaluating with 134 games") == 2


ENGINES = [f"{OURS}.alfworld_dropin", f"{OURS}.textworld_core", f"{OURS}.webshop_dropin"]


@pytest.fixture
def beside_other_engines(tmp_path):
    """The script in a folder that has packages of these names, as their checkouts have."""
    for package in ("alfworld", "textworld", "web_agent_site"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise RuntimeError('not this one')")
    return shutil.copy(SCRIPTS / "children_of_dropin.py", tmp_path)


def test_child_processes_get_the_same_engines(beside_other_engines):
    assert with_dropin(beside_other_engines).split() == ENGINES * 2


@pytest.mark.long
def test_ray_workers_get_the_same_engines(beside_other_engines):
    pytest.importorskip("ray")
    assert with_dropin(beside_other_engines, "ray").split()[-3:] == ENGINES


def test_children_get_what_was_asked_for_and_keep_their_own_start(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('started')")
    child = "import alfworld; print(alfworld.__doc__); import web_agent_site"
    code = (
        "import subprocess, sys; from agentquest.adapters import dropin; dropin(webshop=False)\n"
        f"subprocess.run([sys.executable, '-c', {child!r}])"
    )
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines().count("started") == 2
    assert "AgentQuest's stand-in" in done.stdout
    assert done.stderr.endswith("No module named 'web_agent_site'\n")


def test_what_we_do_not_offer_comes_from_the_checkout_beside_the_script(tmp_path):
    files = {
        "alfworld/__init__.py": "",
        "alfworld/agents/__init__.py": "",
        "alfworld/agents/agent/__init__.py": "class Policy: pass",
        "alfworld/agents/modules/__init__.py": "",
        "alfworld/agents/modules/generic.py": "class HistoryScoreCache: pass\nload_config = None",
        "web_agent_site/__init__.py": "",
        "web_agent_site/models/__init__.py": "from .models import RandomPolicy",
        "web_agent_site/models/models.py": "class RandomPolicy: pass",
        "web_agent_site/engine/__init__.py": "raise RuntimeError('needs Java')",
    }
    write_files(tmp_path, files)
    script = shutil.copy(SCRIPTS / "rest_from_checkout.py", tmp_path)
    assert with_dropin(script).split() == [
        "alfworld.agents.agent",
        f"{OURS}.alfworld_dropin",
        "alfworld.agents.modules.generic",
        f"{OURS}.alfworld_dropin",
        f"{OURS}.webshop_server",
        f"{OURS}.webshop_dropin",
        "web_agent_site.models.models",
    ]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import web_agent_site.models", "AgentQuest stands in for web_agent_site"),
        ("from web_agent_site.envs import Nothing", "Nothing': AgentQuest stands in for web"),
        ("import textworld; textworld.nothing", "textworld has no 'nothing': AgentQuest stands in"),
        (
            "from textworld.gym.envs import TextworldBatchGymEnv as T; T(['x']).nothing",
            "AgentQuest's stand-in for TextworldBatchGymEnv has no 'nothing'",
        ),
        (
            "from web_agent_site.envs import WebAgentTextEnv as W; W(file_path='builtin').nothing",
            "AgentQuest's stand-in for WebAgentTextEnv has no 'nothing'",
        ),
        (
            "from webshop_minimal.env import SimServer; SimServer(file_path='builtin').nothing",
            "AgentQuest's stand-in for SimServer has no 'nothing'",
        ),
        (
            "from webshop_minimal.env import SimServer; s = SimServer(file_path='builtin')"
            "; next(iter(s.product_item_dict.values()))['customization_options']",
            "AgentQuest's products have no 'customization_options'",
        ),
        (
            "from alfworld.agents.environment import AlfredTWEnv as A; A.__new__(A).nothing",
            "AgentQuest's stand-in for AlfredTWEnv has no 'nothing'",
        ),
    ],
)
def test_what_is_nowhere_is_an_error_that_names_agentquest(code, said):
    assert said in fails(code)


def test_agents_and_files_of_the_installed_package_are_found(tmp_path):
    """`textworld.agents` needs `Agent` before the rest of its package, and reads its files."""
    files = {
        "textworld/__init__.py": "raise RuntimeError('all of the package')",
        "textworld/agents.py": "from textworld import Agent\nclass Human(Agent): pass",
        "textworld/words.txt": "hello",
        "plays.py": "import importlib.resources as files\n"
        "from textworld.agents import Human\n"
        "from webshop_minimal.engine import parse_action\n"
        "print(Human.__mro__[1].__module__, parse_action('search[Red shoe]'))\n"
        "print((files.files('textworld') / 'words.txt').read_text())\n",
    }
    write_files(tmp_path, files)
    said = with_dropin(tmp_path / "plays.py").splitlines()
    assert said == [f"{OURS}.textworld_core ('search', 'Red shoe')", "hello"]


def test_modules_below_a_package_need_no_import_of_their_own(tmp_path):
    """The originals import their modules by themselves: scripts write `textworld.core.Wrapper`."""
    (tmp_path / "plays.py").write_text(
        "import alfworld, textworld, web_agent_site\n"
        "for each in (textworld.core.Wrapper, textworld.envs.wrappers.Filter,\n"
        "             alfworld.agents.environment.alfred_tw_env.AlfredTWEnv,\n"
        "             web_agent_site.envs.WebAgentTextEnv):\n"
        "    print(each.__module__)\n"
    )
    core = f"{OURS}.textworld_core"
    shop = f"{OURS}.webshop_dropin"
    said = with_dropin(tmp_path / "plays.py").split()
    assert said == [core, core, f"{OURS}.alfworld_dropin", shop]


def test_modules_of_the_installed_package_may_need_each_other(tmp_path):
    """One asks its package for a name, while the package is waiting for that module."""
    files = {
        "textworld/__init__.py": "dice = 4\nfrom textworld.generator import Game, cards",
        "textworld/generator/__init__.py": "from textworld import dice\nclass Game: pass",
        "textworld/generator/cards.py": "",
        "plays.py": "import textworld.generator\n"
        "print(textworld.generator.dice, textworld.Game.__name__)\n"
        "print(textworld.generator.cards.__name__)\n",
    }
    write_files(tmp_path, files)
    said = with_dropin(tmp_path / "plays.py").split()
    assert said == ["4", "Game", "textworld.generator.cards"]


def test_a_package_that_was_imported_anew_lacks_what_it_lacked(tmp_path):
    """Whoever has the earlier one may still ask it whether it has something."""
    files = {
        "textworld/__init__.py": "",
        "plays.py": "import sys, textworld as earlier\n"
        "for name in [name for name in sys.modules if name.startswith('textworld')]:\n"
        "    del sys.modules[name]\n"
        "print(hasattr(earlier, 'nothing'), hasattr(earlier, 'gym'))\n",
    }
    write_files(tmp_path, files)
    assert with_dropin(tmp_path / "plays.py").split() == ["False", "True"]


def test_gym_is_imported_only_for_the_shop(tmp_path):
    (tmp_path / "gym").mkdir()
    (tmp_path / "gym/__init__.py").write_text("print('imported')")
    script = tmp_path / "plays.py"
    script.write_text(
        "import alfworld.agents.environment\nprint('so far')\nimport web_agent_site.envs"
    )
    assert with_dropin(script).splitlines() == ["so far", "imported"]


def test_a_folder_without_games_is_named(tmp_path):
    config = repr(alfworld_config())
    code = f"AlfredTWEnv({config}, 'eval_out_of_distribution')"
    environment = f"import os; os.environ['ALFWORLD_DATA'] = {str(tmp_path)!r}"
    said = fails(environment, "from alfworld.agents.environment import AlfredTWEnv", code)
    assert f"{tmp_path}/json_2.1.1/valid_unseen: dataset.eval_ood_data_path of the" in said
    assert "configuration is $ALFWORLD_DATA/json_2.1.1/valid_unseen;" in said
    assert "ALFWORLD_DATA=builtin" in said


@pytest.mark.parametrize("content", ["[" * 50_000, "3", "{", '{"x": "\\ud800', None])
def test_a_hostile_game_file_is_named(tmp_path, content):
    """None is a pipe, which would never end."""
    trial = tmp_path / "json_2.1.1" / "valid_unseen" / "task" / "trial"
    trial.mkdir(parents=True)
    (trial / "traj_data.json").write_text('{"task_type": "pick_and_place_simple"}')
    if content is None:
        os.mkfifo(trial / "game.tw-pddl")
    else:
        (trial / "game.tw-pddl").write_text(content)
    said = fails(
        f"import os; os.environ['ALFWORLD_DATA'] = {str(tmp_path)!r}",
        "from alfworld.agents.environment import AlfredTWEnv",
        f"AlfredTWEnv({alfworld_config()!r}, 'eval_out_of_distribution')",
    )
    assert said.startswith(f"agentquest.errors.DataError: {trial}: game.tw-pddl")


def test_the_copy_of_webshop_that_trainers_import_is_ours(tmp_path):
    script = tmp_path / "trains.py"
    script.write_text(
        "from webshop_minimal import WebAgentTextEnv, init_basedir\n"
        "from webshop_minimal.env import SimServer, WebAgentTextEnv\n"
        "from webshop_minimal.goal import get_reward\n"
        "from web_agent_site.engine.engine import parse_action\n"
        "init_basedir()\n"
        "from webshop_minimal.utils import DEFAULT_FILE_PATH\n"
        "env = WebAgentTextEnv(file_path='builtin', observation_mode='text', num_products=300)\n"
        "print(len(env.server.product_item_dict))\n",
        encoding="utf-8",
    )
    assert with_dropin(script).split()[-1] == "300"
