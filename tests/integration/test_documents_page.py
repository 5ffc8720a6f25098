"""docs/documents.md: every name that the five documents print is there, and leads somewhere.

The page's blocks run in test_pages; this reads its tables.
"""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = None

from agentquest.cli.app import BENCHMARK_COMMANDS, COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "documents.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (?!they print|---)(.+?) \| (.+) \|$", PAGE, re.MULTILINE)

# As printed, document by document.
DRIVER = """
poetry add agentquest | poetry install --with alfworld | alfworld-download | alfworld = "^0.3.5"
example.ipynb | ALFWORLD_DATA | alfworld.info | AlfWorldDriver | AlfWorldUtils | AlfWorldAction
step_raw | metrics.export() | h5py | pycocotools | transformers | visdom | gym
"""
PROGRESS = "extras.py | get_progress_pick_heat_then_place"
EVALUATOR = """
API_BASE_URL | API_KEY | git clone https://github.com/alfworld/alfworld.git | pip install -e .
python scripts/alfworld-download | import alfworld | import textworld | traj_data.json
game.tw-pddl
"""
ASSESSMENT = """
python main.py launch | OPENAI_API_KEY | WHITE_AGENT_MODEL | WHITE_AGENT_TEMPERATURE
WHITE_AGENT_REASONING | python3.9 -m venv venv | python src/scripts/patch_textworld.py
configs/base_config.yaml | run_summary.json | run_report.txt | game_000.json | src/launcher.py
src/green_agent/agent.py | src/white_agent/agent.py | behavior_metrics.py | run_logger.py
my_a2a.py | alfworld_green_agent.toml | --task-types "1,2,3" --num-games 3 | --max-steps 30
--train-eval eval_in_distribution | green | white | info
"""
SHOP = """
pip install agentquest | setup.sh | interface.py | .webshop-venv | .webshop-env | WebshopDriver
base_url="http://localhost:5555" | 5555
"""


@pytest.mark.parametrize("document", [DRIVER, PROGRESS, EVALUATOR, ASSESSMENT, SHOP])
def test_every_printed_name_is_on_the_page(document: str) -> None:
    names = [name.strip() for line in document.strip().splitlines() for name in line.split(" | ")]
    assert [name for name in names if name not in PAGE] == []


def test_every_row_says_what_it_is_here() -> None:
    assert len(ROWS) >= 20
    for printed, here in ROWS:
        assert printed.count("`") >= 2 or "configuration items" in printed or here
        assert here.strip(" –")


def test_the_commands_exist() -> None:
    named = set(re.findall(r"`agentquest ([a-z0-9-]+)", PAGE))
    assert named >= {"download", "serve", "init", "green"}
    assert named <= {*COMMANDS, *BENCHMARK_COMMANDS}


def test_the_files_and_modules_exist() -> None:
    files = re.findall(r"`(examples/[\w.]+)`", PAGE)
    assert len(files) == 2
    assert [name for name in files if not (ROOT / name).is_file()] == []
    modules = [*re.findall(r"`(agentquest(?:\.\w+)+)`", PAGE)]
    modules += [f"agentquest.a2a.{name}" for name in ("launcher", "green", "white", "client")]
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []


def test_the_notebook_runs_from_its_first_cell_to_its_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    notebook = json.loads((ROOT / "examples" / "example.ipynb").read_text(encoding="utf-8"))
    there: dict[str, object] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "outputs are not kept in the repository"
            exec("".join(cell["source"]), there)  # noqa: S102 - as Jupyter does
    assert getattr(there["obs"], "success", None) is True
    assert getattr(there["result"], "complete", None) is True


@pytest.mark.skipif(tomllib is None, reason="needs Python 3.11")
def test_a_plain_installation_can_launch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.match(r"[\w-]+", entry)[0] for entry in project["dependencies"]}  # type: ignore[index]
    assert {"a2a-sdk", "uvicorn"} <= names
    assert project["optional-dependencies"]["a2a"] == []
    lock = (ROOT / "requirements-core.lock").read_text(encoding="utf-8")
    assert re.search(r"^a2a-sdk\[http-server\]==1\.", lock, re.MULTILINE)
