"""The same benchmark in another process, with another order of sets and dictionaries' hashes.

Run as a module it reads a question on standard input and answers on standard output.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from agentquest.running.checks.subject import Problems, Subject, check, transcript


@check("Use no hash(), id(), set order or global state for anything visible.")
def other_process(subject: Subject) -> Problems:
    """Tasks, hashes and games are the same in another process."""
    scripts = {task.id: subject.script(task) for task in subject.tasks}
    question = {"name": subject.name, "settings": subject.settings, "scripts": scripts}
    there = _ask(question)
    for name, value in answers(subject, scripts).items():
        if there.get(name) != value:
            yield f"{name}: differs in another process"


def answers(subject: Subject, scripts: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Digests of the tasks, and of games played by `scripts` (commands by task id), to compare."""
    chosen = [task for task in subject.all_tasks if task.id in scripts]
    found = {
        "list of tasks": _digest([task.id for task in subject.all_tasks]),
        "fingerprint": subject.benchmark.fingerprint(chosen),
    }
    for task in chosen:
        found[task.id] = _digest(transcript(subject.benchmark.driver(task), scripts[task.id]))
    return found


def _ask(question: Mapping[str, Any]) -> dict[str, str]:
    other_hashes = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    done = subprocess.run(
        [sys.executable, "-m", __name__],
        input=json.dumps(question, default=str),
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONHASHSEED": other_hashes,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        },
    )
    if done.returncode:
        return {"error": done.stderr[-500:]}
    told: dict[str, str] = json.loads(done.stdout)
    return told


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "backslashreplace")).hexdigest()


def main() -> None:
    """Answer the question on standard input, as JSON."""
    question = json.load(sys.stdin)
    subject = Subject(question["name"], question["settings"])
    json.dump(answers(subject, question["scripts"]), sys.stdout)


if __name__ == "__main__":
    main()
