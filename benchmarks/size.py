"""A run of 100,000 episodes: what it occupies, and how long reports, comparing and resuming take.

    .venv/bin/python benchmarks/run.py size [--episodes 100000]

One episode is played, and written down as often as asked for by the recorder that
every run uses, with every line synced; tasks, trials and results differ. Then the
commands are run as a user runs them, each in a process of its own.
"""

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from measuring import Row, duration, machine, resident_bytes, table

from agentquest.api import play
from agentquest.config import load_config
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from agentquest.running.events import RunEvents
from agentquest.running.factory import Resources
from agentquest.running.run import Run
from agentquest.running.spec import EpisodeSpec

TRIALS = 50
WIDTH = 64
GAMES = ["data_path=builtin", "split=train", "agent=oracle"]


@dataclass
class Copies:
    """An executor that plays nothing: every episode is the same one under another name."""

    played: EpisodeRecord
    success: float
    resident: list[int] = field(default_factory=list)

    async def run(
        self,
        specs: Sequence[EpisodeSpec],
        resources: Resources,
        events: RunEvents,
        parallel: int,
        stop: asyncio.Event,
    ) -> None:
        waiting = iter(specs)
        await asyncio.gather(*(self._work(waiting, events) for _ in range(parallel)))

    async def _work(self, waiting: Iterator[EpisodeSpec], events: RunEvents) -> None:
        for spec in waiting:
            record = self._copy(spec)
            await events.save(record)
            events.finished(spec, record)
            self.resident.append(resident_bytes())

    def _copy(self, spec: EpisodeSpec) -> EpisodeRecord:
        won = random.Random(f"{self.success} {spec.key}").random() < self.success
        return self.played.model_copy(
            update={
                "run_id": spec.context.run_id,
                "key": spec.key,
                "task_id": spec.task.id,
                "task_type": spec.task.task_type,
                "trial": spec.trial,
                "seed": spec.seed,
                "problem": spec.task.problem,
                "success": won,
                "end": End.SOLVED if won else End.STEP_LIMIT,
                "reward": float(won),
            }
        )


def arguments_of(folder: Path, name: str, episodes: int) -> list[str]:
    return [
        *GAMES,
        f"output_dir={folder}",
        f"run_name={name}",
        f"num_games={max(1, episodes // TRIALS)}",
        f"trials={min(TRIALS, episodes)}",
        f"parallel={WIDTH}",
    ]


def build(folder: Path, name: str, episodes: int, success: float) -> dict[str, float]:
    """Write the run; what that took."""
    config, _ = load_config(None, arguments_of(folder, name, episodes))
    run = Run(config)
    owed = run.prepare()
    copies = Copies(
        play("alfworld", data_path="builtin", split="train", task_types=["pick_two_obj"]), success
    )
    clock, processor = time.perf_counter(), time.process_time()
    asyncio.run(
        run.play(owed, RunEvents(), asyncio.Event(), run.stored.save_results, executor=copies)
    )
    tenth = len(copies.resident) // 10
    return {
        "seconds": time.perf_counter() - clock,
        "processor": time.process_time() - processor,
        "early": max(copies.resident[:tenth]),
        "late": max(copies.resident),
        "steps": len(copies.played.steps),
        "record": len(copies.played.model_dump_json()),
    }


def built(folder: Path, name: str, episodes: int, success: float) -> dict[str, float]:
    """The same in a process of its own, so that its memory is its own."""
    done = _python(__file__, str(folder), name, str(episodes), str(success))
    taken: dict[str, float] = json.loads(done.splitlines()[-1])
    return taken


def timed(*arguments: str) -> str:
    """A command in a process of its own: seconds, processor time and most memory."""
    code = (
        "import sys,time,resource,json; clock=time.perf_counter()\n"
        "from agentquest.cli.app import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as end: assert end.code in (0, None), end.code\n"
        "used=resource.getrusage(resource.RUSAGE_SELF)\n"
        "print(json.dumps([time.perf_counter()-clock,used.ru_utime+used.ru_stime,used.ru_maxrss]))"
    )
    wall, processor, kilobytes = json.loads(_python("-c", code, *arguments).splitlines()[-1])
    return f"{duration(wall)} ({duration(processor)} of a processor, {kilobytes >> 10:,} MB)"


def _python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"failed:\n{done.stderr[-2000:]}")
    return done.stdout


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=100_000)
    episodes = parser.parse_args(arguments).episodes
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        taken = built(folder, "first", episodes, 0.5)
        built(folder, "second", episodes, 0.52)
        first, second = str(folder / "first"), str(folder / "second")
        resume = timed("eval", *arguments_of(folder, "first", episodes))
        report = timed("report", first)
        compare = timed("compare", first, second)
        (folder / "first" / "index.jsonl").unlink()
        anew = timed("report", first)
        sizes = {file.name: file.stat().st_size for file in (folder / "first").iterdir()}
    plain = taken["record"] * episodes
    rows = [
        Row("written, all synced", f"{duration(taken['seconds'])} for {episodes:,}"),
        Row("processor time an episode", duration(taken["processor"] / episodes)),
        Row("memory after a tenth, at most", " and ".join(_megabytes(taken, "early", "late"))),
        Row("episodes.jsonl", f"{sizes['episodes.jsonl'] / 2**20:,.0f} MB"),
        Row("the same, not packed", f"{plain / 2**20:,.0f} MB ({taken['steps']:.0f} steps each)"),
        Row("index.jsonl, results.json", " and ".join(_sizes(sizes))),
        Row("resume with nothing to do", resume),
        Row("text report", report),
        Row("compare with another such run", compare),
        Row("text report without the index", anew),
    ]
    print(table(Row("size", "AgentQuest"), rows))
    return 0


def _megabytes(taken: dict[str, float], *names: str) -> list[str]:
    return [f"{taken[name] / 2**20:,.0f} MB" for name in names]


def _sizes(sizes: dict[str, int]) -> list[str]:
    return [f"{sizes[name] / 2**20:,.0f} MB" for name in ("index.jsonl", "results.json")]


if __name__ == "__main__":
    folder_, name_, episodes_, success_ = sys.argv[1:]
    print(json.dumps(build(Path(folder_), name_, int(episodes_), float(success_))))
