"""Measures how fast AgentQuest is, beside the engines it replaces.

    .venv/bin/python benchmarks/run.py alfworld

Times are printed, never judged: they say something about a machine.
"""

import importlib
import sys
from pathlib import Path

# A benchmark is a module here with `main(arguments) -> exit code`.
BENCHMARKS = {
    "alfworld": "alfworld_speed",
    "evaluator": "evaluator",
    "webshop": "webshop",
}


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in BENCHMARKS:
        sys.stderr.write(f"usage: run.py {{{','.join(BENCHMARKS)}}} [--help]\n")
        return 2
    # The reference engines are found and spoken to in one place, beside the conformance run.
    sys.path.append(str(Path(__file__).resolve().parents[1] / "conformance"))
    module = importlib.import_module(BENCHMARKS[arguments[0]])
    code: int = module.main(arguments[1:])
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
