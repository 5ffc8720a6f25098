"""What the evaluator makes of a model's time: how near a run comes to the ideal, and its limits.

    .venv/bin/python benchmarks/run.py evaluator [--inspect-python PYTHON]

Everything is on: prompts, parsing, the game with its oracle, records synced to
disk, the log and the live figures. The server is a process of its own that costs
next to nothing. With a Python that has `inspect_ai` and `openai`, Inspect AI
makes the same number of calls to the same server; without one, the table shows
what was measured earlier and says so.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from measuring import Row, chat_server, duration, machine, table

HERE = Path(__file__).resolve().parent
LATENCY_S = 0.5
PROMPT_BYTES = 7000
# Inspect AI 0.3 on a machine with two cores, 64 samples at once.
NOTED_CALLS_A_SECOND = 79
NOTED_SHARE = 0.52


class Load(NamedTuple):
    episodes: int
    steps: int
    parallel: int

    @property
    def arguments(self) -> list[str]:
        return [str(number) for number in self]

    def ideal(self, latency: float) -> float:
        """Seconds if nothing but the model took time."""
        rounds = -(-self.episodes // self.parallel)
        return rounds * self.steps * latency


class Taken(NamedTuple):
    wall: float
    processor: float
    calls: int
    bytes: int = 0

    @property
    def rate(self) -> float:
        return self.calls / self.wall


def run(program: str, python: str, latency: float, load: Load) -> Taken:
    """One measured process against a server of its own."""
    with tempfile.TemporaryDirectory() as folder, chat_server(latency) as url:
        done = subprocess.run(
            [python, str(HERE / program), folder, url, *load.arguments],
            input="x" * PROMPT_BYTES,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise SystemExit(f"{program} failed:\n{done.stderr}")
    return Taken(**json.loads(done.stdout.splitlines()[-1]))


def share(load: Load, taken: Taken) -> str:
    ideal = load.ideal(LATENCY_S)
    return f"{ideal / taken.wall:.1%} ({taken.wall:.1f} s, ideal {ideal:.1f} s)"


def ours(quick: bool) -> tuple[list[Row], Taken]:
    steps = 10 if quick else 50
    rows = []
    for parallel in (64, 256):
        load = Load(parallel, steps, parallel)
        taken = run("evaluator_run.py", sys.executable, LATENCY_S, load)
        rows.append(Row(f"{parallel} episodes at once, replies in 500 ms", share(load, taken)))
    many = run("evaluator_run.py", sys.executable, 0.0, Load(100 if quick else 1000, steps, 64))
    return rows, many


def theirs(python: str | None, quick: bool) -> tuple[str, str, str]:
    """Inspect AI's share at 64, its calls a second, and processor time a call."""
    if python is None:
        return f"{NOTED_SHARE:.0%} (noted)", f"{NOTED_CALLS_A_SECOND} (noted)", ""
    load = Load(64, 10 if quick else 50, 64)
    waited = run("inspect_run.py", python, LATENCY_S, load)
    hurried = run("inspect_run.py", python, 0.0, load)
    each = duration(hurried.processor / hurried.calls)
    return share(load, waited), f"{hurried.rate:,.0f}", each


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inspect-python", help="a Python that has inspect_ai and openai")
    parser.add_argument("--quick", action="store_true", help="much smaller; figures are rougher")
    options = parser.parse_args(arguments)
    print(machine(), flush=True)
    rows, many = ours(options.quick)
    their_share, their_rate, their_cost = theirs(options.inspect_python, options.quick)
    rows[0] = rows[0]._replace(theirs=their_share)
    rows += [
        Row(
            "calls a second, replies at once, 64 episodes at once", f"{many.rate:,.0f}", their_rate
        ),
        Row("processor time a call", duration(many.processor / many.calls), their_cost),
        Row(
            f"most memory, {100 if options.quick else 1000:,} such episodes",
            f"{many.bytes / 2**20:,.0f} MB",
        ),
    ]
    print(table(Row("evaluator", "AgentQuest", "Inspect AI"), rows))
    if options.inspect_python is None:
        print("(noted): Inspect AI 0.3 on two cores, measured earlier; see --inspect-python.")
    return 0
