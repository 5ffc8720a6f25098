"""Environments for training loops: thousands of games in one process, beside what people use.

First the same script on the published `alfworld` and on our drop-in, batch by
batch, by the clock; then our own vector, in processor time, as far as its sizes
go; then every training game, opened; then WebShop. Each figure comes from a
process of its own.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from alfworld_games import game_files
from measuring import duration, machine
from reference_install import reference_python

from agentquest.errors import AgentQuestError
from agentquest.safe_text import say

_HERE = Path(__file__).parent
_MEGABYTE = 1_000_000
_NOTED = (
    "WebShop's own text environment needs Java and is not installed here; noted of it, for 1,000\n"
    "products on two shared cores: start 7.5 s, 354 MB for one environment and 636 MB after 150\n"
    "episodes, reset 8.7 ms, a step 24 to 72 ms (14 to 42 steps/s), one process and one JVM each."
)

Figures = dict[str, Any]


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    try:
        python = None
        if not options.no_reference:
            python = reference_python(options.reference_python, install=False)
        say(machine())
        _batches(options, python)
        _vectors("alfworld", options.sizes, options.rounds, options.data or "builtin")
        _all_games(options.data or "builtin")
        _vectors("webshop", options.shop_sizes, 5, "builtin")
        say(_NOTED)
    except AgentQuestError as error:
        say(f"error: {error}")
        return 2
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py environments", description=__doc__)
    sizes = {"nargs": "+", "type": int, "metavar": "N"}
    parser.add_argument("--sizes", default=[64, 256, 1024, 10_000], **sizes)
    parser.add_argument("--shop-sizes", default=[64, 1024], **sizes)
    parser.add_argument("--batches", default=[8, 64], help="beside the reference", **sizes)
    parser.add_argument("--rounds", type=int, default=50, metavar="N", help="steps of every game")
    parser.add_argument("--batch-rounds", type=int, default=10, metavar="N")
    parser.add_argument("--data", metavar="DIR", help="real games instead of built-in homes")
    parser.add_argument("--reference-python", metavar="PATH")
    parser.add_argument("--no-reference", action="store_true", help="measure ours alone")
    return parser.parse_args(arguments)


def _batches(options: argparse.Namespace, python: Path | None) -> None:
    if python is None:
        say("alfworld is not installed here (`make conformance` does it): ours alone\n")
        return
    say(f"\nalfworld's batch environment, {options.batch_rounds} steps of every game, by the clock")
    say(_HEADS)
    with tempfile.TemporaryDirectory() as folder:
        dice = random.Random(0)
        files = game_files(options.data, max(options.batches) // 6 + 1, dice, Path(folder), python)
        games = "\n".join(map(str, files))
        script = str(_HERE / "environments_batch.py")
        for batch in options.batches:
            sizes = [script, str(batch), str(options.batch_rounds)]
            theirs = _child([str(python), *sizes], games)
            ours = _child([sys.executable, "-m", "agentquest.dropin", *sizes], games)
            say(_line("alfworld", theirs))
            say(_line("AgentQuest's drop-in", ours))
    say()


def _vectors(benchmark: str, sizes: Sequence[int], rounds: int, data: str) -> None:
    say(f"{benchmark}: our vector, {rounds} steps of every game, processor time of one core")
    say(_HEADS)
    script = str(_HERE / "environments_ours.py")
    for group, who in ((1, "a task for each game"), (8, "a task for eight")):
        for size in sizes:
            numbers = map(str, (size, group, rounds))
            say(_line(who, _child([sys.executable, script, benchmark, *numbers, data])))
    say()


def _all_games(data: str) -> None:
    if data != "builtin" and not any(Path(data).glob("**/train")):
        say("there are no training games in that data\n")
        return
    found = _child([sys.executable, str(_HERE / "environments_ours.py"), "open", data])
    each = duration(found["open"] / found["games"])
    say(
        f"all {found['games']:,} training games: listed in {duration(found['list'])}, opened and "
        f"started in {duration(found['open'])} ({each} each), {found['bytes'] / _MEGABYTE:.0f} MB\n"
    )


_COLUMNS = ("games", "open all", "again", "steps/s", "memory", "processes")
_HEADS = f"{'':22}" + "".join(f"{head:>12}" for head in _COLUMNS)


def _line(who: str, found: Figures) -> str:
    cells = (
        f"{found['games']:,}",
        duration(found["open"]),
        duration(found["reset"]),
        f"{found['steps']:,.0f}",
        f"{found['bytes'] / _MEGABYTE:,.0f} MB",
        str(found["processes"]),
    )
    return f"{who:22}" + "".join(f"{cell:>12}" for cell in cells)


def _child(command: list[str], stdin: str = "") -> Figures:
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AgentQuestError(f"{' '.join(command[:3])} failed: {done.stderr[-500:]}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures
