"""One evaluation in a process of its own, with everything that `agentquest eval` does.

    python evaluator_run.py FOLDER BASE_URL EPISODES STEPS PARALLEL

prints what it took as JSON: seconds of wall and processor time from the first
episode's start to the last one's end, model calls, and the most memory occupied.
"""

import asyncio
import json
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import agentquest.llms.transport  # noqa: F401  (loaded before the clock starts)
from agentquest.api import play_pending
from agentquest.cli.live import LiveView, Tally
from agentquest.config import load_config
from agentquest.running.run import Run
from agentquest.running.spec import EpisodeSpec
from agentquest.store.folder import LOG


def main(folder: str, base_url: str, episodes: str, steps: str, parallel: str) -> None:
    config, _ = load_config(
        None,
        [
            f"output_dir={folder}",
            "data_path=builtin",
            "split=train",
            f"num_games={episodes}",
            f"max_steps={steps}",
            f"parallel={parallel}",
            "llm.model=walker",
            f"llm.base_url={base_url}",
            "llm.max_concurrency=1024",
        ],
    )
    run = Run(config)
    owed = run.prepare()
    wall, processor = time.perf_counter(), time.process_time()
    asyncio.run(_play(run, owed))
    taken = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
    occupied = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    records = run.directory.records()
    assert len(records) == int(episodes)
    assert all(record.scored for record in records)
    calls = sum(len(record.calls) for record in records)
    sys.stdout.write(json.dumps({**taken, "calls": calls, "bytes": occupied}) + "\n")


async def _play(run: Run, owed: Sequence[EpisodeSpec]) -> None:
    log = Path(run.directory.path) / LOG
    with LiveView(Tally(len(run.specs), 0, 0), log, debug=False) as view:
        result = await play_pending(run, owed, view, asyncio.Event())
    assert result.reason is None, result.reason


if __name__ == "__main__":
    main(*sys.argv[1:])
