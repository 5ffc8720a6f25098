"""Measures how fast AgentQuest is, beside what people run otherwise.

    .venv/bin/python benchmarks/run.py                 all of them, one after the other
    .venv/bin/python benchmarks/run.py alfworld --help

Times are printed, never judged: they say something about a machine.
"""

import importlib
import sys
from pathlib import Path

# A benchmark is a module here with `main(arguments) -> exit code`.
BENCHMARKS = {
    "alfworld": "alfworld_speed",
    "evaluator": "evaluator",
    "environments": "environments",
    "size": "size",
    "a2a": "a2a_cost",
    "ray": "ray_clusters",
    "scaling": "scaling_model",
    "providers": "providers",
    "webshop": "webshop",
    "viewer": "viewer",
    "coverage": "coverage",
}


def main(arguments: list[str]) -> int:
    # The reference engines are found and spoken to in one place, beside the conformance run.
    sys.path.append(str(Path(__file__).resolve().parents[1] / "conformance"))
    if not arguments:
        return max(_run(name, []) for name in BENCHMARKS)
    if arguments[0] not in BENCHMARKS:
        sys.stderr.write(f"usage: run.py [{'|'.join(BENCHMARKS)} [--help]]\n")
        return 2
    return _run(arguments[0], arguments[1:])


def _run(name: str, arguments: list[str]) -> int:
    sys.stdout.write(f"\n== {name} ==\n")
    sys.stdout.flush()
    code: int = importlib.import_module(BENCHMARKS[name]).main(arguments)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
