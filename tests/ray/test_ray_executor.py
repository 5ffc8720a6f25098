"""The same run on a real Ray cluster of separate node processes: equal, and it survives."""

import asyncio
import collections
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from ray_runs import all_lines, configured, on, played, scores

from agentquest.agents.baselines import ClumsyAgent, ClumsySettings, ScriptedAgent
from agentquest.errors import UserError
from agentquest.lib import Answer, Explorer, Observation
from agentquest.records.episode import EpisodeRecord
from agentquest.running.events import RunEvents
from agentquest.running.spec import EpisodeSpec

ray = pytest.importorskip("ray", reason="Ray is not installed (extra `ray`)")
pytestmark = pytest.mark.long
# `make conformance` asks for 20.
KILLS = int(os.environ.get("AGENTQUEST_RAY_KILLS", "2"))


class Slow(ScriptedAgent):
    """Takes its time, so that a node can be lost in the middle."""

    async def act(self, observation: Observation) -> Answer:
        await asyncio.sleep(0.1)
        return await super().act(observation)


class TogetherSettings(ClumsySettings):
    folder: Path
    workers: int


class Together(ClumsyAgent):
    """Slips now and then, so that chance has to be the same too; begins when all are there."""

    Settings = TogetherSettings

    def __init__(self, settings: TogetherSettings, explorer: Explorer) -> None:
        super().__init__(settings, explorer)
        self._meeting = settings

    async def act(self, observation: Observation) -> Answer:
        (self._meeting.folder / str(os.getpid())).touch()
        # The others are in other processes, so there is nothing to wait for but the files.
        while len(list(self._meeting.folder.iterdir())) < self._meeting.workers:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        return await super().act(observation)


@pytest.mark.timeout(600)
def test_scores_on_one_two_and_three_nodes_equal_those_of_a_local_run(
    cluster: Any, tmp_path: Path
) -> None:
    def played_by(workers: int, *more: str) -> list[EpisodeRecord]:
        meeting = tmp_path / f"meeting-{workers}"
        meeting.mkdir()
        agent = [f"agent.name={__name__}:Together", f"agent.folder={meeting}"]
        folder = tmp_path / f"runs-{workers}"
        run = configured(folder, *agent, f"agent.workers={workers}", *more)
        records = played(run)
        assert len(list(all_lines(folder))) == len(run.specs)
        return records

    local = scores(played_by(0))
    third = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes(timeout=180)
    for nodes in (1, 2, 3):
        remote = played_by(nodes, *on(cluster.address, nodes))
        assert scores(remote) == local
        assert len({record.worker.partition("@")[2] for record in remote}) == nodes
    cluster.remove_node(third)


class Killer(RunEvents):
    """Takes a node away at a step, without a word."""

    def __init__(self, cluster: Any, node: Any, at: int) -> None:
        self.steps = 0
        self._kill = (cluster, node, at)

    def stepped(self, spec: EpisodeSpec, step: Any, prompt: Any) -> None:
        cluster, node, at = self._kill
        self.steps += 1
        if self.steps == at:
            cluster.remove_node(node, allow_graceful=False)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(KILLS))
def test_a_node_that_dies_costs_nothing_but_time(cluster: Any, tmp_path: Path, seed: int) -> None:
    doomed = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes(timeout=180)
    killer = Killer(cluster, doomed, random.Random(seed).randint(1, 60))
    agent = f"agent.name={__name__}:Slow"
    run = configured(tmp_path, agent, *on(cluster.address, 3))
    records = played(run, killer)
    assert killer.steps > 60
    assert sorted(record.key for record in records) == sorted(spec.key for spec in run.specs)
    assert all(record.scored for record in records)
    assert set(collections.Counter(all_lines(tmp_path)).values()) == {1}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(KILLS))
def test_a_driver_that_dies_leaves_a_run_that_goes_on_elsewhere(
    cluster: Any, tmp_path: Path, seed: int
) -> None:
    agent = f"agent.name={__name__}:Slow"
    settings = ["data_path=builtin", "num_games=12", f"output_dir={tmp_path}", "parallel=8", agent]
    command = [sys.executable, "-m", "agentquest", "eval", *settings, *on(cluster.address, 2)]
    driver = subprocess.Popen(
        command, cwd=Path(__file__).parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for_events(tmp_path, random.Random(seed).randint(1, 90))
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    before = list(all_lines(tmp_path))
    run = configured(tmp_path, agent)
    assert len(run.prepare()) == 12 - len(before) > 0
    records = played(run)
    assert sorted(record.key for record in records) == sorted(spec.key for spec in run.specs)
    assert all(record.scored for record in records)
    assert set(collections.Counter(all_lines(tmp_path)).values()) == {1}
    assert set(before) <= set(all_lines(tmp_path))


def _wait_for_events(folder: Path, number: int) -> None:
    deadline = time.monotonic() + 120
    while sum(len(live.read_bytes().splitlines()) for live in folder.glob("*/live.jsonl")) < number:
        assert time.monotonic() < deadline, "too little was played"
        time.sleep(0.02)


def test_a_cluster_that_is_not_there_is_said(cluster: Any, tmp_path: Path) -> None:
    if ray.is_initialized():
        ray.shutdown()
    run = configured(tmp_path, "agent=scripted", *on("127.0.0.1:1", 1))
    with pytest.raises(UserError, match=r"executor\.address: no Ray cluster at '127\.0\.0\.1:1'"):
        played(run)
