"""What can be wrong with a cluster or one of its nodes is said in a sentence."""

import os
import shutil
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ray_runs import configured, on, played, scores

import agentquest
from agentquest.agents.baselines import ScriptedAgent
from agentquest.benchmarks.alfworld.benchmark import AlfWorldBenchmark
from agentquest.benchmarks.alfworld.driver import AlfWorldDriver
from agentquest.benchmarks.alfworld.homes import game_ids
from agentquest.benchmarks.alfworld.homes.export import write_out
from agentquest.errors import DataError, UserError
from agentquest.lib import Task
from agentquest.running.executors.pool import divide_limits
from agentquest.running.spec import Choice, RunContext

pytest.importorskip("ray", reason="Ray is not installed (extra `ray`)")
pytestmark = pytest.mark.long
# Set on a node that is to be without data: the folder that it pretends not to have.
WITHOUT = "AGENTQUEST_TEST_NODE_WITHOUT"


@pytest.fixture
def odd_node(cluster: Any) -> Iterator[Callable[[dict[str, str]], list[str]]]:
    """Adds a node with variables of its own; what a run needs to be played there alone."""
    added: list[Any] = []

    def add(variables: dict[str, str]) -> list[str]:
        added.append(cluster.add_node(num_cpus=1, resources={"odd": 4}, env_vars=variables))
        cluster.wait_for_nodes(timeout=180)
        return on(cluster.address, 2, num_cpus=0, odd=1)

    yield add
    for node in added:
        cluster.remove_node(node, allow_graceful=False)


def test_without_ray_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"needs ray: pip install .*\[ray\]"):
        played(configured(tmp_path, "agent=scripted", "executor=ray"))
    assert list(tmp_path.iterdir()) == [], "no run directory for what cannot play"


@pytest.mark.timeout(600)
def test_a_node_with_another_version(cluster: Any, odd_node: Any, tmp_path: Path) -> None:
    there = tmp_path / "there" / "agentquest"
    shutil.copytree(Path(agentquest.__file__).parent, there)
    (there / "version.py").write_text('"""Another one."""\n\n__version__ = "0.0.1"\n')
    settings = odd_node({"PYTHONPATH": str(there.parent)})
    with pytest.raises(UserError, match=r"ray-\d@\w+: its versions are agentquest 0\.0\.1, .*this"):
        played(configured(tmp_path / "runs", "agent=scripted", *settings))


@pytest.mark.timeout(600)
def test_a_node_without_the_package(cluster: Any, odd_node: Any, tmp_path: Path) -> None:
    there = tmp_path / "there" / "agentquest"
    there.mkdir(parents=True)
    (there / "__init__.py").write_text("raise ModuleNotFoundError('no agentquest here')\n")
    settings = odd_node({"PYTHONPATH": str(there.parent)})
    with pytest.raises(UserError, match=r"cannot start on its node: .*no agentquest here"):
        played(configured(tmp_path / "runs", "agent=scripted", *settings))


@pytest.mark.timeout(600)
def test_an_agent_that_only_this_process_has(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.ModuleType("only_here")
    module.Mine = type("Mine", (ScriptedAgent,), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "only_here", module)
    run = configured(tmp_path, "agent.name=only_here:Mine", *on(cluster.address, 1))
    with pytest.raises(UserError, match="No module named 'only_here'; it must be installed on ev"):
        played(run)


class Elsewhere(AlfWorldBenchmark):
    """ALFWorld, where one node pretends that a folder is not there."""

    def driver(self, task: Task) -> AlfWorldDriver:
        self._look(task)
        return super().driver(task)

    def data_hash(self, task: Task) -> str:
        self._look(task)
        return super().data_hash(task)

    def _look(self, task: Task) -> None:
        hidden = os.environ.get(WITHOUT)
        if hidden and task.problem.startswith(hidden):
            raise DataError(f"{task.problem}: no such game")


class Rooted(Elsewhere):
    """One whose tasks cannot be sent."""

    def folder(self, task: Task) -> Path | None:
        return None


@pytest.mark.timeout(600)
def test_a_node_without_data_is_sent_what_it_plays_or_named(
    cluster: Any, odd_node: Any, tmp_path: Path
) -> None:
    data, home = tmp_path / "data", tmp_path / "home"
    for folder in write_out(game_ids("valid_unseen")[:30:10], data, "", "UNKNOWN GOAL"):
        (folder / "game.tw-pddl").unlink()  # then it is played by its problem alone
    settings = odd_node({WITHOUT: str(data), "HOME": str(home)})
    more = ["agent=scripted", f"data_path={data}", "benchmark_settings.playable=false"]

    def run_of(name: str, folder: str, *executor: str) -> Any:
        chosen = f"benchmark={__name__}:{name}"
        return configured(tmp_path / folder, chosen, *more, *executor, games=3)

    with pytest.raises(UserError, match=r"data missing: .*no such game"):
        played(run_of("Rooted", "rooted", *settings))
    remote = played(run_of("Elsewhere", "remote", *settings))
    assert scores(remote) == scores(played(run_of("Elsewhere", "local")))
    kept = home / ".cache" / "agentquest" / "shipped"
    assert sorted(file.parent.name for file in kept.glob("*/*/*/*/initial_state.pddl")) == sorted(
        record.task_id.split("/")[-1] for record in remote
    )


def test_limits_hold_for_the_whole_run_however_many_workers() -> None:
    limits = {"requests_per_minute": 100, "tokens_per_minute": 9000, "max_concurrency": 6}
    context = RunContext("run", "hash", Choice("alfworld"), Choice("react"), Choice("x", limits))
    for wanted in (1, 3, 4, 6, 7, 64):
        shared, workers = divide_limits(context, wanted)
        assert 1 <= workers <= min(wanted, 6)
        assert shared.model is not None
        for name, limit in limits.items():
            assert 1 <= shared.model.settings[name] * workers <= limit
    assert divide_limits(RunContext("r", "h", Choice("b"), Choice("a")), 64)[1] == 64
