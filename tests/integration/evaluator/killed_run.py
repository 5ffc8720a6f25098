"""Kills a real `agentquest eval` again and again at random moments, and resumes it each time.

    python killed_run.py SEED KILLS RUN_DIRECTORY ARGUMENTS…

The command line runs in a forked child that has everything imported and the games
at hand, so that a start costs little; the child knows nothing of this. A moment is when the
episodes' file has grown by a random number of bytes, and a random time more. In
every third round the last line is torn as well, as when a machine loses power
before it has written its caches. Prints what it did as JSON.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import agentquest.cli.eval
import agentquest.llms.transport  # noqa: F401
from agentquest.cli import main as command_line
from agentquest.config import load_config
from agentquest.running.run import Run

MOST_GROWTH = 40_000
LONGEST_EXTRA_S = 0.02
PATIENCE_S = 60.0


def child(arguments: list[str]) -> int:
    pid = os.fork()
    if pid == 0:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        code = 70
        try:
            command_line(["eval", *arguments])
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            os._exit(code)
    return pid


def size(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


def has_ended(pid: int) -> int | None:
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def killed(pid: int, file: Path, rng: random.Random) -> bool:
    """Kill the child at a random moment; False if it had come to its end by then."""
    enough = size(file) + rng.randrange(MOST_GROWTH)
    end = time.monotonic() + PATIENCE_S
    while size(file) < enough:
        if (code := has_ended(pid)) is not None:
            if code != 0:
                raise AssertionError(f"the run ended by itself with {code}")
            return False
        if time.monotonic() > end:
            raise AssertionError("the run does not go on")
        time.sleep(0.0005)
    time.sleep(rng.uniform(0.0, LONGEST_EXTRA_S))
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def tear_last_line(file: Path, rng: random.Random) -> bool:
    content = file.read_bytes() if file.is_file() else b""
    last = content.rstrip(b"\n").rfind(b"\n") + 1
    if last >= len(content):
        return False
    os.truncate(file, rng.randrange(last, len(content)))
    return True


def main(seed: int, kills: int, run: Path, arguments: list[str]) -> None:
    rng = random.Random(seed)
    file = run / "episodes.jsonl"
    done = torn = finished_early = 0
    Run(load_config(None, arguments)[0])
    while done < kills:
        if not killed(child(arguments), file, rng):
            finished_early += 1
            break
        done += 1
        if done % 3 == 0:
            torn += tear_last_line(file, rng)
    code = os.waitstatus_to_exitcode(os.waitpid(child(arguments), 0)[1])
    print(json.dumps({"kills": done, "torn": torn, "early": finished_early, "code": code}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
