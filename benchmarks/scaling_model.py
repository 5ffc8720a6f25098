"""How far one driver carries a cluster: a simulation with the costs that `run.py ray` measures.

    .venv/bin/python benchmarks/run.py scaling [--nodes 1 10 100 1000] [--driver-ms 3]

Every place of every worker plays an episode, waits until the driver has taken its
record (one at a time, as it does), and is handed the next. A node that dies costs
the episodes that are in flight on it. Times of episodes vary as those of agents do.
"""

import argparse
import heapq
import random
import sys
from collections.abc import Sequence
from typing import NamedTuple

from measuring import Row, table

_SPREAD = 0.5  # standard deviation of an episode's time, as a share of its mean


class Setting(NamedTuple):
    places: int  # episodes at once
    episode_s: float
    driver_s: float  # of the driver's processor, for each episode
    node_life_s: float  # mean time until a node is lost


class Outcome(NamedTuple):
    rate: float  # episodes per second
    driver: float  # share of the time that the driver is busy
    lost: float  # episodes played in vain, as a share


def simulated(setting: Setting, episodes: int, dice: random.Random) -> Outcome:
    """Play so many episodes, after a start that is not counted."""
    shape = 1 / _SPREAD**2
    scale = setting.episode_s / shape

    def length() -> float:
        return dice.gammavariate(shape, scale)

    start = [(dice.random() * setting.episode_s, place) for place in range(setting.places)]
    heapq.heapify(start)
    finishing, free, vain, counted_from = start, 0.0, 0, 0.0
    warm_up = setting.places
    done = 0
    while done < warm_up + episodes:
        now, place = heapq.heappop(finishing)
        if dice.random() < setting.episode_s / setting.node_life_s:
            vain += done >= warm_up
            heapq.heappush(finishing, (now + length(), place))
            continue
        free = max(free, now) + setting.driver_s
        if done == warm_up:
            counted_from = free
        done += 1
        heapq.heappush(finishing, (free + length(), place))
    taken = free - counted_from
    return Outcome(
        episodes / taken,
        min(1.0, episodes * setting.driver_s / taken),
        vain / episodes,
    )


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    rows = []
    for nodes in options.nodes:
        setting = Setting(
            nodes * options.per_node,
            options.steps * options.step_s,
            options.driver_ms / 1e3,
            options.node_days * 86_400,
        )
        result = simulated(setting, options.sample, random.Random(nodes))
        days = options.episodes / result.rate / 86_400
        rows.append(
            Row(f"{nodes:,} nodes", f"{result.rate:,.0f}", f"{result.driver:.0%}", f"{days:.2f}")
        )
    heads = Row("", "episodes/s", "driver busy", f"days for {options.episodes:,}")
    _say(table(heads, rows))
    _say(f"Played in vain because a node died: {result.lost:.3%}.")
    limit = 1e3 / options.driver_ms
    nodes = limit * options.steps * options.step_s / options.per_node
    _say(f"The driver takes {limit:,.0f} episodes/s: enough for {nodes:,.0f} such nodes.")
    disk, memory = options.record_kb * options.episodes / 1e9, options.kept_kb * options.episodes
    _say(f"Records: {disk:,.2f} TB. Kept in the driver's memory: {memory / 1e6:,.0f} GB.")
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    described = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="run.py scaling", description=described)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 10, 30, 100, 300, 1000])
    parser.add_argument("--per-node", type=int, default=64, help="episodes at once on a node")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--step-s", type=float, default=0.5, help="an agent's answer")
    parser.add_argument("--driver-ms", type=float, default=3.0, help="per episode")
    parser.add_argument("--record-kb", type=float, default=12.0)
    parser.add_argument("--kept-kb", type=float, default=1.6, help="in the driver, per episode")
    parser.add_argument("--node-days", type=float, default=30.0, help="until a node is lost")
    parser.add_argument("--episodes", type=int, default=10_000_000)
    parser.add_argument("--sample", type=int, default=100_000, help="episodes simulated")
    return parser.parse_args(arguments)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
