"""How long the viewer's pages take: a folder of runs, a long run, a long episode.

    .venv/bin/python benchmarks/run.py viewer [--inspect-python PYTHON] [--quick]

The records are really played episodes, copied under other names. The server is
started anew for every page, so nothing is in its memory; "never opened" has no
index on disk either. With a Python that has `inspect_ai` (`.foreign/inspect` is
taken by itself), Inspect View shows the same runs as its own logs; what a person
waits for is measured in the same Chromium, until the page has what was asked for.
"""

import argparse
import asyncio
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from measuring import Row, duration, machine, table

from agentquest import evaluate
from agentquest.records.episode import EpisodeRecord, MessagePool, episode_key
from agentquest.records.manifest import Manifest
from agentquest.records.messages import Message
from agentquest.reports.exports.inspect_log import write_inspect_log
from agentquest.store.folder import RunFolder
from agentquest.store.index import INDEX
from agentquest.store.stored_run import StoredRun

ROOT = Path(__file__).resolve().parents[1]
INSPECT = ROOT / ".foreign" / "inspect" / "bin" / "python"
STEPS = 200


class Sizes(NamedTuple):
    runs: int
    each: int
    episodes: int


class Asked(NamedTuple):
    """A page, what it must show, and where Inspect View shows the same."""

    what: str
    path: str
    shown: str
    theirs: str = ""


def played(agent: str, steps: int, folder: Path) -> tuple[Manifest, EpisodeRecord]:
    result = evaluate(
        benchmark="alfworld", data_path="builtin", agent=agent, num_games=1, max_steps=steps,
        output_dir=str(folder), run_name=agent,
    )  # fmt: skip
    return RunFolder(result.path).manifest(), result.records[0]


def with_prompts(record: EpisodeRecord) -> EpisodeRecord:
    """The episode as a model would have left it: each prompt repeats all that came before."""
    pool, told, steps = MessagePool(), record.first_observation, []
    system = Message(role="system", content="You are in a household. " * 40)
    for step in record.steps:
        asked = pool.places([system, Message(role="user", content=told)])
        steps.append(step.model_copy(update={"prompt": asked}))
        told += f"\n> {step.action}\n{step.observation}"
    return record.model_copy(update={"steps": steps, "messages": pool.messages})


def write(folder: Path, manifest: Manifest, record: EpisodeRecord, number: int) -> None:
    tasks = [f"{record.task_id}-{place}" for place in range(number)]
    run = RunFolder(folder)
    told = {"run_id": folder.name, "task_ids": tasks, "trials": 1}
    run.create("", manifest.model_copy(update=told))
    copies = [
        record.model_copy(update={"task_id": task, "key": episode_key(task, 0)}) for task in tasks
    ]
    with run.lock() as log:
        for start in range(0, number, 500):
            log.append(*copies[start : start + 500])


def make(folder: Path, sizes: Sizes) -> list[Asked]:
    games = folder / "games"
    manifest, short = played("scripted", 30, games)
    walk_manifest, walk = played("random", STEPS, games)
    for place in range(sizes.runs):
        write(folder / "many" / f"run-{place:03d}", manifest, short, sizes.each)
    write(folder / "one" / "long-run", manifest, short, sizes.episodes)
    write(folder / "walk" / "walk", walk_manifest, with_prompts(walk), 1)
    key = RunFolder(folder / "walk" / "walk").records()[0].key
    last = f"step-{len(walk.steps)}"
    return [
        Asked(f"{sizes.runs} runs of {sizes.each} episodes", "many/", "run-000"),
        Asked(f"a run of {sizes.episodes:,} episodes", "one/run/long-run", short.goal),
        Asked(
            f"an episode of {len(walk.steps)} steps",
            f"walk/episode?{urlencode({'run': 'walk', 'episode': key})}",
            last,
        ),
    ]


class Server(NamedTuple):
    url: str
    process: int

    def processor(self) -> float:
        """Seconds of processor time so far (Linux): a busy machine does not stretch them."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(command: list[str], url: str = "") -> Iterator[Server]:
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        told = url or process.stdout.readline().split(": ", 1)[1].strip()
        yield Server(told, process.pid)
    finally:
        process.terminate()
        process.wait(timeout=60)


def our_server(folder: Path) -> list[str]:
    return [sys.executable, "-m", "agentquest", "view", str(folder), "--port", "0"]


def taken(url: str, path: str) -> tuple[float, float, int]:
    """Seconds to the first byte and to the last, and the number of bytes."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=600)
    begun = time.perf_counter()
    connection.request("GET", path)
    answer = connection.getresponse()
    first = time.perf_counter() - begun
    size = len(answer.read())
    whole = time.perf_counter() - begun
    if answer.status != 200:
        raise SystemExit(f"{path}: {answer.status}")
    connection.close()
    return first, whole, size


def forget(folder: Path) -> None:
    for file in folder.rglob(INDEX):
        file.unlink()


async def seen(url: str, shown: str) -> float | None:
    """Seconds until Chromium shows a text or has an element of that id; None without Chromium."""
    sys.path.append(str(ROOT / "tests"))
    from browser import CHROMIUM, browser_tab

    if CHROMIUM is None:
        return None
    there = (
        f"!!document.getElementById({json.dumps(shown)}) || "
        f"document.body.innerText.includes({json.dumps(shown)})"
    )
    async with browser_tab() as tab:
        begun = time.perf_counter()
        await tab.call("Page.navigate", url=url)
        for _ in range(6000):
            if await tab.evaluate(f"document.body ? ({there}) : false"):
                return time.perf_counter() - begun
            await asyncio.sleep(0.01)
    return None


def measure(folder: Path, asked: Asked) -> list[Row]:
    place, _, path = asked.path.partition("/")
    home = folder / place
    forget(home)
    with serving(our_server(home)) as server:
        _, never, _ = taken(server.url, f"/{path}")
    with serving(our_server(home)) as server:
        if path.startswith("episode"):  # whoever looks at an episode comes from a list
            taken(server.url, "/")
        before = server.processor()
        first, whole, size = taken(server.url, f"/{path}")
        busy = server.processor() - before
        again = taken(server.url, f"/{path}")[1]
    with serving(our_server(home)) as server:
        shown = asyncio.run(seen(f"{server.url}/{path}", asked.shown))
    return [
        Row(f"{asked.what}: first byte", duration(first)),
        Row(f"  complete page, {size / 1e6:.2f} MB", duration(whole)),
        Row("  processor time of the server", duration(busy)),
        Row("  complete page, asked for again", duration(again)),
        Row("  complete page, never opened before", duration(never)),
        Row("  seen in Chromium", duration(shown) if shown else ""),
    ]


def theirs(folder: Path, python: str, asked: list[Asked]) -> list[float | None]:
    """Seconds until Inspect View shows each, its server started anew."""
    found = []
    for place, one in enumerate(asked):
        home = folder / one.path.partition("/")[0]
        logs = folder / f"logs-{home.name}"
        files = [write_inspect_log(StoredRun(run), logs) for run in sorted(home.iterdir())]
        address, shown = "", "agentquest/alfworld"
        if place:
            address = f"#/logs/{quote(Path(files[0]).name)}"
            shown = one.shown
        if place == 2:
            record = RunFolder(home / "walk").records()[0]
            address += f"/samples/sample/{quote(record.task_id, safe='')}/1/"
            shown = record.steps[0].observation.splitlines()[0][:60]
        port = 7680 + place
        command = [str(Path(python).parent / "inspect"), "view", "start", "--log-dir", str(logs)]
        with serving([*command, "--port", str(port)], f"http://127.0.0.1:{port}/") as server:
            _wait(server.url)
            found.append(asyncio.run(seen(server.url + address, shown)))
    return found


def _wait(url: str) -> None:
    for _ in range(300):
        try:
            taken(url, "/")
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("Inspect View did not start")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    there = str(INSPECT) if INSPECT.is_file() else None
    parser.add_argument("--inspect-python", default=there, help="a Python that has inspect_ai")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    options = parser.parse_args(arguments)
    sizes = Sizes(50, 20, 1000) if options.quick else Sizes(500, 20, 10_000)
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asked = make(folder, sizes)
        groups = [measure(folder, one) for one in asked]
        if options.inspect_python:
            for group, seconds in zip(
                groups, theirs(folder, options.inspect_python, asked), strict=True
            ):
                group[-1] = group[-1]._replace(
                    theirs=duration(seconds) if seconds else "not shown within a minute"
                )
    rows = [row for group in groups for row in group]
    print(table(Row("page", "AgentQuest", "Inspect View", ""), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
