"""Samples of time, what is said of them, and the table they stand in."""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import NamedTuple

from agentquest.version import __version__


class Row(NamedTuple):
    """One line of the table; a missing text is shown as a dash."""

    what: str
    ours: str
    theirs: str = ""
    ratio: str = ""


@contextmanager
def chat_server(*arguments: float) -> Iterator[str]:
    """The address of a walking chat server: its seconds for an answer, and most calls a minute."""
    program = Path(__file__).with_name("walking_chat_server.py")
    command = [sys.executable, str(program), *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(timeout=30)


def seconds_of(work: Callable[[], object]) -> float:
    """Processor time, because a busy machine stretches long samples and spares short ones:
    by the clock, the slower of two engines would look slower than it is."""
    start = time.process_time()
    work()
    return time.process_time() - start


def quantile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that at least this share of the samples do not exceed."""
    rank = max(1, -(-len(samples) * round(share * 1000) // 1000))
    return sorted(samples)[rank - 1]


def duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.2f} ms"
    return f"{seconds:.2f} s"


def times(theirs: float, ours: float, at_least: bool = False) -> str:
    """How many times faster; `at_least` where theirs was cut short."""
    return f"{'≥ ' if at_least else ''}{theirs / ours:,.0f}×"


def table(heads: Row, rows: Sequence[Row]) -> str:
    lines = [heads, *rows]
    widths = [max(len(row[column]) for row in lines) for column in range(len(heads))]
    rule = "─" * (sum(widths) + 3 * len(widths) - 3)
    return "\n".join([_line(heads, widths), rule, *(_line(row, widths) for row in rows)])


def _line(row: Row, widths: Sequence[int]) -> str:
    cells = [f"{row.what:<{widths[0]}}"]
    cells += [f"{cell or '–':>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
    return "   ".join(cells)


def machine() -> str:
    """One line about where and when the figures come from."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    made = f"{date.today()}, AgentQuest {__version__}, Python {platform.python_version()}"
    system = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    return f"{made}, {_processor()}, {system}, load {load} at the start"


def resident_bytes() -> int:
    """Memory this process occupies now (Linux)."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or "unknown processor"
    models = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return models[0] if models else "unknown processor"
