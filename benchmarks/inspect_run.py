"""The same loop as the evaluator's in Inspect AI, for `evaluator.py` to measure beside it.

Runs under a Python of its own that has `inspect_ai` and `openai`:

    python inspect_run.py FOLDER BASE_URL EPISODES STEPS PARALLEL < PROMPT

Each sample makes STEPS chat calls, one after the other, with a system and a user
message as long as the evaluator's. There is no game, no parsing and no history
to build: what is measured is what the framework itself takes. Prints JSON.
"""

import json
import os
import sys
import time

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver


@solver
def call_again_and_again(steps: int, prompt: str) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        for _ in range(steps):
            await model.generate(
                [ChatMessageSystem(content=prompt), ChatMessageUser(content=state.input_text)]
            )
        return state

    return solve


def main(folder: str, base_url: str, episodes: int, steps: int, parallel: int) -> None:
    prompt = sys.stdin.read()
    os.environ.setdefault("OPENAI_API_KEY", "none")
    task = Task(
        dataset=MemoryDataset([Sample(input=f"episode {n}") for n in range(episodes)]),
        solver=call_again_and_again(steps, prompt),
    )
    wall, processor = time.perf_counter(), time.process_time()
    (log,) = eval(
        task,
        model="openai/walker",
        model_base_url=base_url,
        model_args={"responses_api": False},
        max_connections=parallel,
        max_samples=parallel,
        display="none",
        log_dir=folder,
    )
    taken = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
    assert log.status == "success", log.error
    sys.stdout.write(json.dumps({**taken, "calls": episodes * steps}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
