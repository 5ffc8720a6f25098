"""Measures our vector of games in a process of its own; prints JSON.

    python environments_ours.py alfworld|webshop GAMES GROUP ROUNDS [DATA]
    python environments_ours.py open [DATA]          every training game, opened

Every GROUP games are copies of one task, as trainers play them.
Processor time of the vector alone: choosing commands is the agent's own business.
"""

import gc
import json
import os
import random
import sys
import time

from measuring import resident_bytes

from agentquest.lib import Arena, SessionVector, Turn
from agentquest.running.factory import make_benchmark


def play(benchmark: str, games: int, group: int, rounds: int, data: str) -> dict[str, float]:
    """Open so many games, step all of them so many times, start all of them anew."""
    split = "train" if data == "builtin" else None
    arena = Arena(make_benchmark(benchmark, _settings(split, data)))
    tasks = [place % len(arena.tasks()) for place in range(games // group)]
    vector = SessionVector(arena, len(tasks), group)
    began = time.process_time()
    turns = vector.reset(tasks)
    opened = time.process_time() - began
    spent = _steps(vector, turns, rounds)
    gc.collect()
    size = resident_bytes()
    began = time.process_time()
    vector.reset(tasks)
    anew = time.process_time() - began
    return {
        "games": games,
        "open": opened,
        "reset": anew,
        "steps": rounds * games / spent,
        "bytes": size,
        "processes": 1 + _children(),
    }


def _steps(vector: SessionVector, turns: list[Turn], rounds: int) -> float:
    """Seconds for so many steps of every game; one that is over starts again."""
    dice, spent = random.Random(0), 0.0
    for _ in range(rounds):
        commands = [dice.choice(turn.admissible) for turn in turns]
        began = time.process_time()
        turns = vector.step(commands)
        spent += time.process_time() - began
        for slot, turn in enumerate(turns):
            if turn.over:
                turns[slot] = vector.reset_slot(slot)
    return spent


def open_all(data: str) -> dict[str, float]:
    """Every training game is read, understood and started; none is kept."""
    arena = Arena(make_benchmark("alfworld", _settings("train", data)))
    began = time.process_time()
    tasks = arena.tasks()
    listed = time.process_time() - began
    vector = SessionVector(arena, 1)
    for task in tasks:
        assert vector.reset([task])[0].admissible
    return {
        "games": len(tasks),
        "list": listed,
        "open": time.process_time() - began - listed,
        "bytes": resident_bytes(),
    }


def _settings(split: str | None, data: str) -> dict[str, str]:
    return {"data_path": data, **({"split": split} if split else {})}


def _children() -> int:
    tasks = f"/proc/{os.getpid()}/task/{os.getpid()}/children"
    try:
        with open(tasks, encoding="ascii") as file:  # noqa: PTH123  a name of the kernel's
            return len(file.read().split())
    except OSError:
        return 0


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "open":
        said = open_all(*(rest or ["builtin"]))
    else:
        games, group, rounds = map(int, rest[:3])
        said = play(what, games, group, rounds, rest[3] if rest[3:] else "builtin")
    sys.stdout.write(json.dumps(said) + "\n")
