"""A configuration of ALFWorld's own form, and running scripts as their users do."""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"
SPLITS = {
    "data_path": "train",
    "eval_id_data_path": "valid_seen",
    "eval_ood_data_path": "valid_unseen",
}


def alfworld_config(**changed):
    """The keys that ALFWorld reads, as its published base configuration has them."""
    folder = "$ALFWORLD_DATA/json_2.1.1"
    config = {
        "dataset": {
            **{key: f"{folder}/{split}" for key, split in SPLITS.items()},
            "num_train_games": -1,
            "num_eval_games": -1,
        },
        "logic": {
            "domain": "$ALFWORLD_DATA/logic/alfred.pddl",
            "grammar": "$ALFWORLD_DATA/logic/alfred.twl2",
        },
        "env": {
            "type": "AlfredTWEnv",
            "domain_randomization": False,
            "task_types": [1, 2, 3, 4, 5, 6],
            "expert_timeout_steps": 150,
            "expert_type": "handcoded",
            "goal_desc_human_anns_prob": 0.0,
        },
        "dagger": {"training": {"max_nb_steps_per_episode": 50}},
        "rl": {"training": {"max_nb_steps_per_episode": 50}},
        "general": {"training_method": "dqn"},
    }
    for path, value in changed.items():
        section, key = path.split("__")
        config[section][key] = value
    return config


def written(config, folder):
    file = folder / "config.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    return file


def run(command, **environment):
    """The standard output of a command that must succeed."""
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def with_dropin(script, *arguments, **environment):
    command = [sys.executable, "-m", "agentquest.dropin", script, *arguments]
    return run(command, **environment)


def countable(python):
    """What the environment must say so that Inspect's mock model can count tokens offline."""
    try:
        run([python, "-c", "import tiktoken; tiktoken.get_encoding('o200k_base')"])
    except AssertionError:
        return {"PYTHONPATH": str(SCRIPTS / "words_as_tokens")}
    return {}
