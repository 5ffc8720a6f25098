"""`agentquest view` as its users start it, over a folder of runs."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from agentquest import evaluate
from warm_python import Process

_ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+)")


@contextmanager
def viewing(folder: Path) -> Iterator[str]:
    """The address of a viewer over the folder, while it lasts."""
    process = Process(
        ["-m", "agentquest", "view", folder, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = _ADDRESS.search(line)
        assert found, line
        yield found[1]
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def get(url: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    try:
        with urlopen(Request(url, headers=headers), timeout=60) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except HTTPError as error:
        return error.code, error.read().decode(), dict(error.headers)


def make_runs(folder: Path) -> dict[str, str]:
    """Three small runs; their names by agent."""
    names = {}
    for agent in ("scripted", "random", "react"):
        result = evaluate(
            benchmark="alfworld", data_path="builtin", num_games=6, agent=agent,
            output_dir=str(folder), max_steps=20,
        )  # fmt: skip
        names[agent] = Path(result.path).name
    return names
