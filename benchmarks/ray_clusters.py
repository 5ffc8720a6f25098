"""The same run in one process, in several, and on Ray; and environments by the ten thousand.

    .venv/bin/python benchmarks/run.py ray [--nodes 3] [--envs 10000 50000]

Nodes are separate Ray nodes on this machine, so they share its cores: more nodes
show what Ray costs, not what more machines would bring. The driver's processor
time per episode is what bounds a large cluster; see docs/scaling.md.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from measuring import Row, chat_server, duration, machine, resident_bytes, table
from ray_agents import STEP_S

from agentquest.adapters.arenas import shared_arena
from agentquest.adapters.ray_vector import RayVector
from agentquest.config import load_config
from agentquest.lib import SessionVector
from agentquest.running.events import RunEvents
from agentquest.running.run import Run

_MODEL_S = 0.5
_BUILTIN = {"data_path": "builtin", "split": "train"}


class Taken(NamedTuple):
    """Seconds by the clock from the first episode's start, and of this process's processor."""

    wall: float
    processor: float
    episodes: int
    steps: int
    bytes: int


class Stopwatch(RunEvents):
    """Starting actors is paid once, so the clock starts with the first episode."""

    began = 0.0

    def started(self, spec: Any, worker: str) -> None:
        self.began = self.began or time.perf_counter()


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    _say(machine())
    rows = _runs("local", options)
    rows += _runs("processes", options, "executor=processes", f"executor.workers={options.cores}")
    with _Cluster() as cluster:
        for nodes in range(1, options.nodes + 1):
            cluster.grow_to(nodes)
            given = [f"executor.address={cluster.address}", f"executor.workers={nodes}"]
            rows += _runs(f"Ray, {nodes} nodes", options, "executor=ray", *given)
        environments = [row for size in options.envs for row in _environments(cluster, size)]
    _say(table(Row("", "episodes/s", "steps/s", "driver/episode"), rows))
    _say(table(Row("environments", "steps/s", "a step", "memory"), environments))
    return 0


def _runs(where: str, options: argparse.Namespace, *executor: str) -> list[Row]:
    computing = ["agent.name=ray_agents:Busy", f"parallel={options.cores * 4}"]
    walking = ["llm.model=walker", "max_steps=8", f"parallel={options.model_episodes}"]
    with chat_server(_MODEL_S) as url:
        taken = {
            f"{STEP_S * 1e3:.0f} ms of computing": _run(options.episodes, *computing, *executor),
            f"{_MODEL_S * 1e3:.0f} ms model": _run(
                options.model_episodes, *walking, f"llm.base_url={url}", *executor
            ),
            "nothing but us": _run(options.light, "agent=scripted", "parallel=64", *executor),
        }
    rows = [_row(f"{where}: {what}", figures) for what, figures in taken.items()]
    for row in rows:
        _say("  ".join(row))
    return rows


def _row(what: str, taken: Taken) -> Row:
    per_episode = f"{duration(taken.processor / taken.episodes)}, "
    per_episode += f"{taken.bytes / taken.episodes / 1e3:.1f} kB"
    rates = (taken.episodes / taken.wall, taken.steps / taken.wall)
    return Row(what, f"{rates[0]:.1f}", f"{rates[1]:.0f}", per_episode)


def _run(episodes: int, *settings: str) -> Taken:
    with tempfile.TemporaryDirectory() as folder:
        given = ["data_path=builtin", "split=train", f"num_games={episodes}"]
        config, _ = load_config(None, [*given, f"output_dir={folder}", *settings])
        run, watch = Run(config), Stopwatch()
        owed = run.prepare()
        processor = time.process_time()
        asyncio.run(run.play(owed, watch, asyncio.Event(), lambda running: None))
        wall = time.perf_counter() - watch.began
        processor = time.process_time() - processor
        records = run.directory.records()
        assert len(records) == episodes
        assert all(record.scored for record in records)
        size = (Path(run.directory.path) / "episodes.jsonl").stat().st_size
        return Taken(wall, processor, episodes, sum(len(r.steps) for r in records), size)


def _environments(cluster: "_Cluster", size: int) -> list[Row]:
    arena = shared_arena("alfworld", _BUILTIN)
    before = resident_bytes()
    rows = [_stepped(f"{size:,} in one process", SessionVector(arena, size), before)]
    before = resident_bytes()
    over = RayVector("alfworld", size, settings=_BUILTIN, address=cluster.address)
    rows.append(_stepped(f"{size:,} on Ray", over, before))
    for row in rows:
        _say("  ".join(row))
    return rows


def _stepped(what: str, vector: Any, before: int, rounds: int = 5) -> Row:
    try:
        turns = vector.reset([place % 3553 for place in range(len(vector))])
        samples = []
        for number in range(rounds):
            commands = [turn.admissible[number % len(turn.admissible)] for turn in turns]
            start = time.perf_counter()
            turns = vector.step(commands)
            samples.append(time.perf_counter() - start)
    finally:
        vector.close()
    taken = sorted(samples)[rounds // 2]
    memory = f"{(resident_bytes() - before) / 1e6:.0f} MB here"
    return Row(what, f"{len(turns) / taken:,.0f}", duration(taken), memory)


class _Cluster:
    """Nodes on this machine, each with one CPU to give away."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        import ray

        self._ray = ray
        self._cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        self._nodes = 1

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def grow_to(self, nodes: int) -> None:
        while self._nodes < nodes:
            self._cluster.add_node(num_cpus=1)
            self._nodes += 1
        self._cluster.wait_for_nodes()

    def __enter__(self) -> "_Cluster":
        return self

    def __exit__(self, *error: object) -> None:
        self._ray.shutdown()
        self._cluster.shutdown()


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="run.py ray", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2, help="workers without Ray")
    parser.add_argument("--episodes", type=int, default=48, help="of the agent that computes")
    parser.add_argument("--model-episodes", type=int, default=132)
    parser.add_argument("--light", type=int, default=1000, help="of an agent that costs nothing")
    parser.add_argument("--envs", type=int, nargs="*", default=[10_000, 50_000])
    return parser.parse_args(arguments)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
