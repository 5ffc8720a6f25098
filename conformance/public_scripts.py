"""Runs other people's scripts, unchanged, on AgentQuest's engines.

    .venv/bin/python conformance/public_scripts.py FOLDER [PYTHON]

FOLDER has checkouts under their repositories' names (see SCRIPTS); nothing is fetched. Each
script plays in a copy of its checkout, on the built-in homes and shop, with a scripted model;
those that need game files get copies of a few from the folder in ALFWORLD_DATA. What a script
needs beside the engine (gym, torch, textworld) must be installed for PYTHON, with AgentQuest, or
lie in its checkout (ADaPT: KEY.txt, ReAct's base_config.yaml and the folder
results/comparison/text-davinci-003; alfworld: distilbert-base-cased).
Where it is missing, or a hub cannot be reached, the script's own error is shown and it counts as
not run.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import NamedTuple

from agentquest.safe_text import say

_CHILD = Path(__file__).with_name("pretended_packages.py")
# The line of a traceback that names the error, and errors for want of a package, a file or a hub.
_ERROR = re.compile(r"(?:\w+\.)*\w*(?:[Ee]rror|Exception|Timeout|Enabled)(?::|$)")
_MISSING = re.compile(
    r"(?:\w+\.)*(?:FileNotFoundError|ImportError|ModuleNotFoundError|OSError|LookupError"
    r"|URLError|HTTPError|\w*EntryNotFoundError|\w*Connect\w*Error|\w*Timeout|gaierror"
    r"|MaxRetryError|ProxyError|SSLError|OfflineModeIsEnabled):"
)
_OURS = ("AgentQuest", "'agentquest", "127.0.0.1")
# The addresses of WebShop's site in scripts that read it.
_SHOP = re.compile(r"http://(?:3\.83\.245\.205|127\.0\.0\.1):3000")


class Script(NamedTuple):
    """A script, what it prints once it plays our engine (nothing: it must end well), and what the
    model says to it."""

    checkout: str
    arguments: tuple[str, ...]  # a script or notebook and its arguments, or `-c` and a driver
    shows: str
    folder: str = ""
    replies: tuple[str, ...] = ("look", "go to desk 1", "inventory")
    games_in: str = ""  # where in the checkout the script looks for game files


_TALES = """
from tales.alfworld.alfworld_env import ALFWorldEnv
from agentquest.benchmarks.alfworld import homes
env = ALFWorldEnv(f"builtin:{homes.game_ids('valid_unseen')[0]}/game.tw-pddl")
for command in env.reset()[1]["extra.walkthrough"]:
    result = env.step(command)
print("score", result[3]["score"])
"""
# The managers are theirs; the two files are changed as docs/environments.md says.
_VERL = """
from pathlib import Path
from omegaconf import OmegaConf
for name in ("alfworld", "webshop"):
    Path(f"agent_system/environments/env_package/{name}/__init__.py").write_text(
        f"from agentquest.adapters.verl_agent import build_{name}_envs, {name}_projection")
from agent_system.environments import env_manager
env = {"seed": 1, "history_length": 2, "rollout": {"n": 2}, "resources_per_worker": {},
       "alfworld": {"eval_dataset": "eval_in_distribution"}, "env_name": "alfworld/AlfredTWEnv"}
sizes = {"train_batch_size": 2, "val_batch_size": 2}
for envs in env_manager.make_envs(OmegaConf.create({"env": env, "data": sizes})):
    first, _ = envs.reset({})
    count = len(first["text"])
    _, rewards, dones, infos = envs.step(["<think>a</think><action>look</action>"] * count)
    print("valid", [int(info["is_action_valid"]) for info in infos])
from agentquest.adapters.verl_agent import build_webshop_envs, webshop_projection
shop = env_manager.WebshopEnvironmentManager(
    build_webshop_envs(env_kwargs={"file_path": "builtin"}), webshop_projection,
    OmegaConf.create({"env": env}))
shop.reset({})
print("shop valid", shop.step(["<think>a</think><action>search[shirt]</action>"])[3])
"""
# Their packages' own `__init__` files import the trainers.
_TRAINER = """
import sys, types
for name in {packages}:
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [name.replace(".", "/")]
sys.modules["gem"] = types.ModuleType("gem")
sys.modules["gem"].Env = type("Env", (), {{}})
from {module} import WebShopEnv
{made}
env.reset(seed=3)
print("searched", env.step("{search}")[1:3])
"""
_RAGEN = _TRAINER.format(
    packages=("ragen", "ragen.env"), module="ragen.env.webshop.env", search="search[shirt]",
    made="from ragen.env.webshop.config import WebShopEnvConfig\n"
    "env = WebShopEnv(WebShopEnvConfig(file_path='builtin'))",
)  # fmt: skip
_ROLL = _TRAINER.format(
    packages=("roll", "roll.pipeline", "roll.pipeline.agentic", "roll.pipeline.agentic.env"),
    module="roll.pipeline.agentic.env.webshop.env", made="env = WebShopEnv()",
    search="<answer>search[shirt]</answer>",
)  # fmt: skip
_SHOPPING = ("search[shirt]", "click[{product}]", "click[Description]", "click[< Prev]",
             "click[Buy Now]")  # fmt: skip
SCRIPTS = (
    Script("ReAct", ("alfworld.ipynb",), "134 r "),
    Script("ReAct", ("WebShop.ipynb",), "Your score (min 0.0", replies=_SHOPPING),
    Script(
        "reflexion", ("main.py", "--num_trials", "2", "--num_envs", "2", "--run_name", "run",
                      "--use_memory", "--model", "gpt-4"), "", "alfworld_runs",
    ),
    Script(
        "reflexion", ("main.py", "--num_trials", "1", "--num_envs", "1", "--run_name", "run",
                      "--use_memory"), "Your score (min 0.0", "webshop_runs", _SHOPPING,
    ),
    Script("StateAct", ("run_webshop_adapted.py", "--num_envs", "1"), "Your score (min 0.0",
           "webshop_runs", _SHOPPING),
    Script(
        "automanual", ("main_test.py", "--run_name", "run"), "obs_1: Act: agent.go_to",
        "automanual_alfworld", ("```python\nprint(agent.go_to('desk_1'))\n```",),
        "alfworld/downloaded",
    ),
    Script("ADaPT", ("run_alfworld.py", "--num-task-samples", "1"), "sum(rs)/sum(cnts)",
           games_in="alfworld/data"),
    Script("tale-suite", ("-c", _TALES), "score 1"),
    Script("verl-agent", ("-c", _VERL), "shop valid"),
    Script("RAGEN", ("-c", _RAGEN), "searched (0"),
    Script("ROLL", ("-c", _ROLL), "searched (0"),
    Script("WebShop", ("-m", "run_envs.run_web_agent_text_env"), "Taking action"),
    Script("WebShop", ("-m", "run_envs.run_web_agent_site_env"), "Taking action"),
    Script("WebShop", ("-c", "import env; print(env.WebEnv)"), "WebEnv", "baseline_models"),
    Script(
        "alfworld", ("scripts/train_dqn.py", "configs/base_config.yaml",
                     "-p", "general.training_method=dqn"), "Training with",
    ),
    Script("alfworld", ("scripts/train_dagger.py", "configs/base_config.yaml"), "Training with"),
    Script("alfworld", ("scripts/run_eval.py", "configs/eval_config.yaml"), "Evaluating with"),
    Script(
        "alfworld", ("scripts/alfworld-play-tw", "--domain", "alfworld/data/alfred.pddl",
                     "--grammar", "alfworld/data/alfred.twl2"), "Your task is to", games_in="data",
    ),
)  # fmt: skip


def main(arguments: list[str]) -> int:
    """Exit code 1 if a script failed in what is ours, 2 without a folder."""
    if len(arguments) not in (1, 2) or not Path(arguments[0]).is_dir():
        say(__doc__ or "")
        return 2
    python = Path(arguments[1]).absolute() if len(arguments) == 2 else sys.executable
    failed = False
    for script in SCRIPTS:
        with tempfile.TemporaryDirectory() as scratch:
            verdict, detail = _try(script, Path(arguments[0]), Path(scratch), str(python))
        failed |= verdict == "FAILED"
        given = script.arguments[0] if script.arguments[0] != "-c" else "its environments"
        given = script.arguments[1] if given == "-m" else given
        say(f"{verdict:8} {script.checkout} {given} {detail}".rstrip())
    return int(failed)


def _try(script: Script, checkouts: Path, scratch: Path, python: str) -> tuple[str, str]:
    source, copy = checkouts / script.checkout, scratch / script.checkout
    if not source.is_dir():
        return "skipped", "(no checkout)"
    shutil.copytree(
        source, copy, ignore=shutil.ignore_patterns(".git"), ignore_dangling_symlinks=True
    )
    data = "builtin"
    if script.games_in:
        data = str(copy / script.games_in)
        if not _copy_games(Path(data)):
            return "skipped", "(ALFWORLD_DATA has no games)"
    with _serve_shop(script) as address:
        return _run(script, copy, python, data, address)


def _copy_games(target: Path) -> bool:
    """A game of each task type, in the places of all splits, instead of the checkout's own games:
    AutoManual's have rules and words that nobody else's have."""
    shutil.rmtree(target / "json_2.1.1", ignore_errors=True)
    folder = Path(os.environ.get("ALFWORLD_DATA", "")) / "json_2.1.1"
    trials: dict[str, Path] = {}
    for split in ("valid_seen", "valid_unseen"):
        for game in sorted(folder.glob(f"{split}/*-None-*/*/game.tw-pddl")):
            trials.setdefault(game.parts[-3].partition("-")[0], game.parent)
    for split in ("train", "valid_seen", "valid_unseen"):
        for trial in trials.values():
            shutil.copytree(trial, target / "json_2.1.1" / split / trial.parent.name / trial.name)
    return bool(trials)


@contextmanager
def _serve_shop(script: Script) -> Iterator[str]:
    """The original's pages on loopback, for the scripts that read them."""
    if script.replies != _SHOPPING:
        yield ""
        return
    command = [sys.executable, "-m", "agentquest", "serve", "webshop", "--original-pages",
               "--data", "builtin", "--port", "0", "--site-port", "0"]  # fmt: skip
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield next(line.split()[-1] for line in server.stdout if "scrapers" in line)
        finally:
            server.kill()


def _run(
    script: Script, copy: Path, python: str, data: str, address: str, seconds: int = 120
) -> tuple[str, str]:
    """A script is ended when it has shown that it plays; some play for ever."""
    folder, given = copy / script.folder, list(script.arguments)
    if given[0] == "-c":
        given = ["driver.py"]
        (folder / given[0]).write_text(script.arguments[1], encoding="utf-8")
    elif given[0].endswith(".ipynb"):
        cells = json.loads((folder / given[0]).read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        given = ["notebook.py"]
        (folder / given[0]).write_text("\n\n".join(["import sys", *code]), encoding="utf-8")
    for file in folder.glob("*.py") if address else ():
        text = file.read_text(encoding="utf-8")
        file.write_text(_SHOP.sub(address, text), encoding="utf-8")
    environment = {
        **os.environ, "ALFWORLD_DATA": data, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(copy),
        "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "none", "HF_HUB_OFFLINE": "1",
    }  # fmt: skip
    lines = [""]
    with subprocess.Popen(
        [python, str(_CHILD), json.dumps(script.replies), *given], cwd=folder, env=environment,
        text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        limit = Timer(seconds, process.kill)
        limit.start()
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if script.shows and script.shows in line:
                process.kill()
                limit.cancel()
                return "ran", ""
        limit.cancel()
    if not script.shows and process.returncode == 0:
        return "ran", ""
    return judge_end(lines)


def judge_end(lines: Sequence[str]) -> tuple[str, str]:
    """Why a script ended that did not play: its last error, whose text may have further lines.

    What is not installed, or cannot be fetched from a hub, is missing here; what a module or
    a server of ours lacks is our failure.
    """
    said = [line.rstrip() for line in lines if line.strip()]
    errors = [line for line in said if _ERROR.match(line)]
    last = (errors or said or [""])[-1]
    if last.endswith(":"):  # the text begins below
        last = " ".join(said[said.index(last) :][:2])
    missing = _MISSING.match(last) and not any(name in last for name in _OURS)
    return "not run" if missing else "FAILED", last.strip()[:200]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
