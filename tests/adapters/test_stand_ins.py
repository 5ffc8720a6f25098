"""Public scripts run unchanged: reloads, child processes, and the rest of their packages."""

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


def test_a_package_can_be_reloaded_and_one_game_opened(tmp_path):
    config = written(alfworld_config(), tmp_path)
    said = with_dropin(SCRIPTS / "reloaded_alfworld.py", config, ALFWORLD_DATA="builtin")
    assert said.splitlines()[-1] == "True"
    assert said.count("Evaluating with 134 games") == 2


def test_child_processes_get_the_same_engines():
    said = with_dropin(SCRIPTS / "children_of_dropin.py").split()
    assert said == [
        f"{OURS}.alfworld_dropin",
        f"{OURS}.textworld_core",
        f"{OURS}.webshop_dropin",
    ]


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
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
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
        ("from web_agent_site.envs import Nothing", "agentquest/adapters/stand_ins"),
        ("import textworld; textworld.nothing", "AgentQuest's stand-in for textworld has no"),
    ],
)
def test_what_is_nowhere_is_an_error_that_names_agentquest(code, said):
    assert said in fails(code)


def test_a_folder_without_games_is_named(tmp_path):
    config = repr(alfworld_config())
    code = f"AlfredTWEnv({config}, 'eval_out_of_distribution')"
    environment = f"import os; os.environ['ALFWORLD_DATA'] = {str(tmp_path)!r}"
    said = fails(environment, "from alfworld.agents.environment import AlfredTWEnv", code)
    assert f"{tmp_path}/json_2.1.1/valid_unseen" in said
    assert "ALFWORLD_DATA=builtin" in said


def test_the_copy_of_webshop_that_trainers_import_is_ours(tmp_path):
    script = tmp_path / "trains.py"
    script.write_text(
        "from webshop_minimal import WebAgentTextEnv, init_basedir\n"
        "init_basedir()\n"
        "from webshop_minimal.utils import DEFAULT_FILE_PATH\n"
        "env = WebAgentTextEnv(file_path='builtin', observation_mode='text', num_products=300)\n"
        "print(len(env.server.product_item_dict))\n",
        encoding="utf-8",
    )
    assert with_dropin(script).split()[-1] == "300"
