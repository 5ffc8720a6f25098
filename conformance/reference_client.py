"""The reference engine as a child process that is asked and answers.

    with ReferenceClient(python) as reference:
        shown = reference.open(game_file)
        shown = reference.step("look")

The child is ended by its own id when an answer takes too long, and started anew
for the next game: its planner cannot be interrupted and its memory only grows.
"""

import json
import os
import queue
import subprocess
import threading
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from agentquest.errors import AgentQuestError

_PLAYER = Path(__file__).with_name("reference_player.py")
_ANSWER_SECONDS = 300.0
_GAMES_PER_CHILD = 20
_ERROR_LINES = 15


class ReferenceTimeout(AgentQuestError):
    """The reference did not answer in the time given; its process was ended.

    `seconds` is the processor time it had spent on the answer, where the system tells.
    """

    def __init__(self, text: str, seconds: float | None) -> None:
        super().__init__(text)
        self.seconds = seconds


class ReferenceFailure(AgentQuestError):
    """The reference's process broke; the text is the end of what it wrote."""


class Shown(NamedTuple):
    """What an agent sees after a command, in either engine."""

    observation: str
    admissible: list[str]
    won: bool
    seconds: float = 0.0


class ReferenceClient:
    """One child at a time."""

    def __init__(self, python: Path) -> None:
        self._python = python
        self._child: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self._errors: deque[str] = deque()
        self._games = 0

    def open(self, game_file: Path, keep: bool = False) -> Shown:
        """Open a game; `keep` leaves the ones opened before alive."""
        if not keep and self._games >= _GAMES_PER_CHILD:
            self.close()
        self._games += 1
        return _shown(self._ask({"do": "open", "game": str(game_file), "keep": keep}))

    def step(self, command: str) -> Shown:
        return _shown(self._ask({"do": "step", "command": command}))

    def plan(self, timeout: float) -> tuple[list[str], float]:
        """The planner's commands from here, and the processor time it took."""
        answer = self._ask({"do": "plan"}, timeout)
        return list(answer["plan"]), float(answer["seconds"])

    def memory(self) -> int:
        """Bytes of memory the child occupies."""
        return int(self._ask({"do": "memory"})["bytes"])

    def close(self) -> None:
        child, self._child, self._games = self._child, None, 0
        if child is not None:
            child.kill()
            child.wait()

    def __enter__(self) -> "ReferenceClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, request: dict[str, Any], timeout: float = _ANSWER_SECONDS) -> dict[str, Any]:
        child = self._child or self._start()
        assert child.stdin is not None
        before = _processor_seconds(child.pid)
        try:
            child.stdin.write(json.dumps(request) + "\n")
            child.stdin.flush()
            line = self._answers.get(timeout=timeout)
        except queue.Empty:
            after = _processor_seconds(child.pid)
            self.close()
            spent = None if before is None or after is None else after - before
            text = f"no answer to {request['do']!r} in {timeout:g} s"
            raise ReferenceTimeout(text, spent) from None
        except OSError:
            line = ""
        if not line:
            self.close()
            raise ReferenceFailure("the reference ended:\n" + "".join(self._errors))
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _start(self) -> "subprocess.Popen[str]":
        child = subprocess.Popen(
            [str(self._python), str(_PLAYER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        # Each child has its own queue, so that a late answer never reaches the next one.
        self._child, self._answers = child, queue.Queue()
        self._errors = deque(maxlen=_ERROR_LINES)
        reader = (child, self._answers, self._errors)
        for work in (_read_answers, _read_errors):
            threading.Thread(target=work, args=reader, daemon=True).start()
        return child


def _read_answers(
    child: "subprocess.Popen[str]", answers: "queue.Queue[str]", errors: "deque[str]"
) -> None:
    assert child.stdout is not None
    for line in child.stdout:
        answers.put(line)
    answers.put("")


def _read_errors(
    child: "subprocess.Popen[str]", answers: "queue.Queue[str]", errors: "deque[str]"
) -> None:
    assert child.stderr is not None
    errors.extend(child.stderr)


def _processor_seconds(process: int) -> float | None:
    """Processor time of a process so far; None where there is no /proc to say."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _shown(answer: dict[str, Any]) -> Shown:
    return Shown(
        answer["observation"], answer["admissible"], answer["won"], float(answer["seconds"])
    )
