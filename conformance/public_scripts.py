"""Runs other people's scripts, unchanged, on AgentQuest's engines.

    .venv/bin/python conformance/public_scripts.py FOLDER

FOLDER has checkouts under their repositories' names (`WebShop`, `alfworld`, `reflexion`,
`tale-suite`). Nothing is fetched. What a script needs beside the engine (gym, torch, a model)
must be installed; where it is not, the script's own error is shown and it counts as not run.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from terminal import say


class Script(NamedTuple):
    """A script, where it is started, and what it prints once it plays our engine."""

    checkout: str
    arguments: tuple[str, ...]
    shows: str
    folder: str = ""
    seconds: int = 60


_TALES = """
from tales.alfworld.alfworld_env import ALFWorldEnv
from agentquest.benchmarks.alfworld import homes
env = ALFWorldEnv(f"builtin:{homes.game_ids('valid_unseen')[0]}/game.tw-pddl")
print(env.reset()[0])
"""
SCRIPTS = (
    Script("WebShop", ("-m", "run_envs.run_web_agent_text_env"), "Taking action"),
    Script("WebShop", ("-m", "run_envs.run_web_agent_site_env"), "Taking action"),
    Script("WebShop", ("-c", "import env; print(env.WebEnv)"), "WebEnv", "baseline_models"),
    Script("alfworld", ("scripts/train_dqn.py", "configs/base_config.yaml"), "AlfredTWEnv"),
    Script("alfworld", ("scripts/train_dagger.py", "configs/base_config.yaml"), "AlfredTWEnv"),
    Script("reflexion", ("-c", "import alfworld_trial"), "", "alfworld_runs"),
    Script("tale-suite", ("-c", _TALES), "Welcome to TextWorld, ALFRED!"),
)


def main(arguments: list[str]) -> int:
    """Exit code 1 if a script failed in what is ours, 2 without a folder."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        say(__doc__ or "")
        return 2
    failed = 0
    for script in SCRIPTS:
        folder = Path(arguments[0]) / script.checkout
        if not folder.is_dir():
            say(f"skipped  {script.checkout}: no checkout")
            continue
        verdict, detail = _run(script, folder / script.folder)
        failed += verdict == "FAILED"
        say(
            f"{verdict:8} {script.checkout} {script.arguments[-1].strip().splitlines()[0]} {detail}"
        )
    return min(failed, 1)


def _run(script: Script, folder: Path) -> tuple[str, str]:
    """Scripts that play for ever are ended after a while; what they printed decides."""
    given = script.arguments
    if given[0] == "-c":
        code = f"from agentquest.adapters import dropin\ndropin()\n{given[1]}"
        command = [sys.executable, "-c", code]
    else:
        command = [sys.executable, "-m", "agentquest.dropin", *given]
    # Some read their model's key when they are imported.
    environment = {"OPENAI_API_KEY": "none", **os.environ}
    with subprocess.Popen(
        command, cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        try:
            said, _ = process.communicate(timeout=script.seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
    last = said.strip().splitlines()[-1][:200] if said.strip() else ""
    if process.returncode in (0, -9) and script.shows in said:
        return "ran", ""
    if last.startswith(("ModuleNotFoundError", "ImportError")) and "AgentQuest" not in last:
        return "not run", last
    return "FAILED", last


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
