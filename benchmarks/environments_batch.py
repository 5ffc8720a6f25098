"""One batch of ALFWorld games through ALFWorld's own interface; prints JSON.

Run with the reference's Python, and with `python -m agentquest.dropin` on our
engine: the same script, unchanged. Paths of games come on standard input.

    environments_batch.py BATCH ROUNDS
"""

import json
import os
import random
import sys
import time
from pathlib import Path

import textworld
import textworld.gym
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos


def descendants(process):
    """This process and all that it has started (Linux)."""
    found = [process]
    for task in Path(f"/proc/{process}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += descendants(int(child))
    return found


def occupied(processes):
    """Bytes that these processes hold; what they share is shared out among them."""
    total = 0
    for process in processes:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) * 1024
    return total


batch, rounds = int(sys.argv[1]), int(sys.argv[2])
games = [line.strip() for line in sys.stdin if line.strip()]
games = [games[number % len(games)] for number in range(batch)]
began = time.perf_counter()
wanted = textworld.EnvInfos(won=True, admissible_commands=True, extras=["gamefile"])
wrappers = [AlfredDemangler(), AlfredInfos]
env = textworld.gym.make(
    textworld.gym.register_games(
        games, wanted, batch_size=batch, max_episode_steps=10**6, wrappers=wrappers
    )
)
_, infos = env.reset()
opened = time.perf_counter()
dice = random.Random(0)
for _ in range(rounds):
    commands = [dice.choice(admissible) for admissible in infos["admissible_commands"]]
    _, _, _, infos = env.step(commands)
stepped = time.perf_counter()
processes = descendants(os.getpid())
said = {
    "games": batch,
    "open": opened - began,
    "steps": batch * rounds / (stepped - opened),
    "bytes": occupied(processes),
    "processes": len(processes),
}
env.reset()
said["reset"] = time.perf_counter() - stepped
env.close()
sys.stdout.write("\n" + json.dumps(said) + "\n")
