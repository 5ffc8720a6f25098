"""The same run on a real Ray cluster of separate node processes: equal, and it survives a node."""

import asyncio
import collections
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentquest.agents.baselines.scripted import ScriptedAgent
from agentquest.config import load_config
from agentquest.errors import UserError
from agentquest.lib import Answer, Observation
from agentquest.records.episode import EpisodeRecord
from agentquest.running.monitor import Watcher
from agentquest.running.run import Run
from agentquest.running.spec import EpisodeSpec

ray = pytest.importorskip("ray", reason="Ray is not installed (extra `ray`)")
cluster_utils = pytest.importorskip("ray.cluster_utils")

# What may differ between two plays of the same episode.
_NOT_SCORES = {"worker", "started_at", "seconds", "run_id", "agent", "config_hash"}


class Slow(ScriptedAgent):
    """Takes its time, so that a node can be lost in the middle."""

    async def act(self, observation: Observation) -> Answer:
        await asyncio.sleep(0.2)
        return await super().act(observation)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    made = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    made.add_node(num_cpus=1)
    made.wait_for_nodes(timeout=180)
    yield made
    ray.shutdown()
    made.shutdown()


def configured(folder: Path, *more: str) -> Run:
    config, _ = load_config(
        None, ["data_path=builtin", "num_games=12", f"output_dir={folder}", "parallel=8", *more]
    )
    return Run(config)


def played(run: Run, watcher: Watcher | None = None) -> list[EpisodeRecord]:
    async def work() -> str | None:
        specs = run.prepare()
        return await run.play(specs, watcher or Watcher(), asyncio.Event(), lambda *given: None)

    assert asyncio.run(work()) is None
    return run.directory.records()


def scores(records: list[EpisodeRecord]) -> dict[str, Any]:
    return {
        record.key: {
            name: value
            for name, value in record.model_dump(mode="json", exclude={"steps"}).items()
            if name not in _NOT_SCORES
        }
        | {"actions": record.actions, "seen": [step.observation for step in record.steps]}
        for record in records
    }


@pytest.mark.timeout(600)
def test_scores_on_two_nodes_equal_those_of_a_local_run(cluster: Any, tmp_path: Path) -> None:
    local = played(configured(tmp_path / "local", "agent=scripted"))
    remote = played(
        configured(
            tmp_path / "ray",
            "agent=scripted",
            "executor=ray",
            f"executor.address={cluster.address}",
            "executor.workers=2",
        )
    )
    assert scores(remote) == scores(local)
    assert all("@" in record.worker for record in remote)
    assert len(list(RunLines(tmp_path / "ray"))) == 12


@pytest.mark.timeout(600)
def test_a_node_that_dies_costs_nothing_but_time(cluster: Any, tmp_path: Path) -> None:
    doomed = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes(timeout=180)

    class Killer(Watcher):
        steps = 0

        def stepped(self, spec: EpisodeSpec, step: Any, prompt: Any) -> None:
            self.steps += 1
            if self.steps == 20:
                cluster.remove_node(doomed, allow_graceful=False)

    run = configured(
        tmp_path,
        f"agent.name={__name__}:Slow",
        "executor=ray",
        f"executor.address={cluster.address}",
        "executor.workers=3",
    )
    watcher = Killer()
    records = played(run, watcher)
    assert watcher.steps > 20
    assert sorted(record.key for record in records) == sorted(spec.key for spec in run.specs)
    assert all(record.scored for record in records)
    assert set(collections.Counter(RunLines(tmp_path)).values()) == {1}


def test_a_cluster_that_is_not_there_is_said(tmp_path: Path) -> None:
    if ray.is_initialized():
        ray.shutdown()
    run = configured(tmp_path, "agent=scripted", "executor=ray", "executor.address=127.0.0.1:1")
    with pytest.raises(UserError, match=r"executor\.address: no Ray cluster at '127\.0\.0\.1:1'"):
        played(run)


class RunLines:
    """The keys of all lines of the one run in a folder."""

    def __init__(self, folder: Path) -> None:
        (self._run,) = (path for path in folder.iterdir() if path.is_dir())

    def __iter__(self) -> Iterator[str]:
        from agentquest.records.run_directory import RunDirectory

        return (record.key for record in RunDirectory(self._run).tries())
