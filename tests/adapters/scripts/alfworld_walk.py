"""Plays whole batches through ALFWorld's own interface and writes down all that comes back.

Run with the reference's Python and with `python -m agentquest.dropin`, it must
write the same. Types are written too: a tuple is not a list, 0 is not 0.0.
"""

import json
import random
import sys
from pathlib import Path

from alfworld.agents.environment import get_environment

config_file, split, batch, method, resets, limit = sys.argv[1:]
batch, resets, limit = int(batch), int(resets), int(limit)
with Path(config_file).open() as file:
    config = json.load(file)
config["general"]["training_method"] = method
for section in ("rl", "dagger"):
    config[section]["training"]["max_nb_steps_per_episode"] = limit


def plain(value):
    if isinstance(value, dict):
        kept = [[key, plain(value[key])] for key in sorted(value) if key != "facts"]
        return {"dict": kept, "facts": "facts" in value}
    if isinstance(value, list | tuple):
        return [type(value).__name__, [plain(each) for each in value]]
    return value if isinstance(value, str) else [type(value).__name__, value]


def say(*values):
    sys.stdout.write(json.dumps(plain(values)) + "\n")


def without_advice(infos):
    """Two experts need not agree; that each gives one command must."""
    if "extra.expert_plan" in infos:
        infos = {**infos, "extra.expert_plan": [len(plan) for plan in infos["extra.expert_plan"]]}
    return infos


games = get_environment("AlfredTWEnv")(config, train_eval=split)
say(games.game_files, games.num_games, games.train_eval)
env = games.init_env(batch_size=batch)
if batch % 2:
    say(env.seed(7))
dice = random.Random(5)
for number in range(resets):
    observations, infos = env.reset()
    if "extra.expert_plan" in infos:
        say(infos["extra.expert_plan"])
    say(observations, without_advice(infos))
    for _ in range(limit + 3):
        commands = [
            dice.choice([*admissible, " look ", "LOOK", "nonsense", ""])
            for admissible in infos["admissible_commands"]
        ]
        observations, scores, dones, infos = env.step(commands)
        say(observations, scores, dones, without_advice(infos))
    if number == 0:
        say(env.render("text"), env.last_commands)
    env.skip(2)
env.close()
