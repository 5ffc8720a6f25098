"""What can be wrong with a cluster or one of its nodes is said in a sentence."""

import asyncio
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ray_runs import configured, on, played, scores

import agentquest
from agentquest.adapters.ray_vector import RayVector
from agentquest.agents.baselines import ScriptedAgent
from agentquest.benchmarks.alfworld.benchmark import AlfWorldBenchmark
from agentquest.benchmarks.alfworld.driver import AlfWorldDriver
from agentquest.benchmarks.alfworld.homes import game, game_ids
from agentquest.benchmarks.alfworld.homes.export import write_game
from agentquest.errors import DataError, UserError
from agentquest.lib import Answer, Observation, Task
from agentquest.records.outcome import End
from agentquest.running.events import RunEvents
from agentquest.running.executors.pool import divide_limits
from agentquest.running.spec import Choice, RunContext
from agentquest.store.folder import RunFolder

ray = pytest.importorskip("ray", reason="Ray is not installed (extra `ray`)")
pytestmark = pytest.mark.long
HERE = Path(__file__).resolve().parent
# Set on a node that is to be without data: the folder that it pretends not to have.
WITHOUT = "AGENTQUEST_TEST_NODE_WITHOUT"
# Set on a node with other data: the folder that all know, and the one that it reads instead.
INSTEAD = "AGENTQUEST_TEST_NODE_READS"


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
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_cluster_of_another_ray(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the cluster sees it, this process is the odd one; Ray compares Python's version too."""
    ray.shutdown()
    monkeypatch.setattr("ray.__version__", "2.0.0")
    with pytest.raises(UserError, match=r"cannot join .*Version mismatch.*") as caught:
        played(configured(tmp_path, "agent=scripted", *on(cluster.address, 1)))
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


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
    for game_id in game_ids("valid_unseen")[:30:10]:
        folder = write_game(game(game_id), data, "", "UNKNOWN GOAL")
        (folder / "game.tw-pddl").unlink()  # then it is played by its problem alone
    settings = odd_node({WITHOUT: str(data), "HOME": str(home)})
    more = ["agent=scripted", f"data_path={data}", "benchmark_settings.playable=false"]

    def run_of(name: str, folder: str, *executor: str) -> Any:
        chosen = f"benchmark={__name__}:{name}"
        return configured(tmp_path / folder, chosen, *more, *executor, games=3)

    with pytest.raises(UserError, match=rf"worker ray-\d@\w+: data missing: {data}.*no such game"):
        played(run_of("Rooted", "rooted", *settings))
    assert list((tmp_path / "rooted").iterdir()) == []
    remote = played(run_of("Elsewhere", "remote", *settings))
    assert scores(remote) == scores(played(run_of("Elsewhere", "local")))
    kept = home / ".cache" / "agentquest" / "shipped"
    assert sorted(file.parent.name for file in kept.glob("*/*/*/*/initial_state.pddl")) == sorted(
        record.task_id.split("/")[-1] for record in remote
    )


class Altered(AlfWorldBenchmark):
    """ALFWorld, where one node has other games under the same names."""

    def driver(self, task: Task) -> AlfWorldDriver:
        return super().driver(self._find(task))

    def data_hash(self, task: Task) -> str:
        return super().data_hash(self._find(task))

    def _find(self, task: Task) -> Task:
        known, read = os.environ.get(INSTEAD, os.pathsep).split(os.pathsep)
        return replace(task, problem=task.problem.replace(known, read)) if known else task


@pytest.mark.timeout(600)
@pytest.mark.parametrize("spoilt", ["another", "missing"])
def test_one_game_that_a_node_has_otherwise_is_no_score(
    cluster: Any, odd_node: Any, tmp_path: Path, spoilt: str
) -> None:
    """The first game is the same there; what is wrong comes later."""
    data, theirs = tmp_path / "data", tmp_path / "theirs"
    for game_id in game_ids("valid_unseen")[:30:10]:
        folder = write_game(game(game_id), data, "", "UNKNOWN GOAL")
        (folder / "game.tw-pddl").unlink()
    shutil.copytree(data, theirs)
    settings = odd_node({INSTEAD: f"{data}{os.pathsep}{theirs}", "HOME": str(tmp_path / "home")})
    more = ["agent=scripted", f"data_path={data}", "parallel=1", f"benchmark={__name__}:Altered"]
    more.append("benchmark_settings.playable=false")

    def run_in(folder: str, *executor: str) -> Any:
        return configured(tmp_path / folder, *more, *executor, games=3)

    first, *_, last = (spec.task for spec in run_in("none").specs)
    same, other = (Path(task.problem.replace(str(data), str(theirs))) for task in (first, last))
    shutil.rmtree(other)
    if spoilt == "another":
        shutil.copytree(same, other)
        with pytest.raises(
            UserError, match=r"worker ray-\d@\w+: its data for .* differs"
        ) as caught:
            played(run_in("remote", *settings))
        assert last.problem in str(caught.value)
        (folder,) = (tmp_path / "remote").iterdir()
        assert last.id not in {record.task_id for record in RunFolder(folder).tries()}
    else:
        assert scores(played(run_in("remote", *settings))) == scores(played(run_in("local")))


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("number", "code"), [("SIGTERM", 143), ("SIGINT", 130), ("SIGHUP", 129)])
def test_signals_end_it_as_everywhere(cluster: Any, tmp_path: Path, number: str, code: int) -> None:
    agent = [f"agent.name={__name__}:Waiting", "num_games=40", "data_path=builtin"]
    given = [*agent, f"output_dir={tmp_path}", "run_name=run", *on(cluster.address, 2)]
    folders = os.pathsep.join(str(HERE / part) for part in ("", ".."))
    playing = subprocess.Popen(
        [sys.executable, "-m", "agentquest", "eval", *given],
        env={**os.environ, "PYTHONPATH": folders},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    live = tmp_path / "run" / "live.jsonl"
    until = time.monotonic() + 300
    while not (live.exists() and '"event":"step"' in live.read_text("utf-8")):
        assert playing.poll() is None
        assert time.monotonic() < until
        time.sleep(0.1)
    playing.send_signal(signal.Signals[number])
    _, said = playing.communicate(timeout=120)
    assert playing.returncode == code
    # Nobody reads what a closed terminal is told.
    assert ("run the same command again to play the rest" in said) == (number != "SIGHUP")
    assert (tmp_path / "run" / "results.json").exists()
    ends = [record.end for record in RunFolder(tmp_path / "run").tries()]
    assert End.CANCELLED in ends


@contextmanager
def listening(answer: bytes) -> Iterator[int]:
    """The port of a server that says the same to everybody, on the loopback only."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    connection.recv(100)
                    connection.sendall(answer)
                    connection.close()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def test_a_wrong_address_is_said_and_leaves_no_run(tmp_path: Path) -> None:
    with (
        listening(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port,
        pytest.raises(UserError, match="something answers there, but it is not Ray"),
    ):
        configured(tmp_path, "agent=scripted", *on(f"127.0.0.1:{port}", 1)).prepare()
    with pytest.raises(UserError, match=r"no Ray cluster at .*Connect call failed"):
        configured(tmp_path, "agent=scripted", *on(f"127.0.0.1:{port}", 1)).prepare()
    assert list(tmp_path.iterdir()) == []


def test_a_head_that_only_the_loopback_reaches_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ray.util.get_node_ip_address", lambda: "127.0.0.2")
    with (
        listening(bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])) as port,
        pytest.raises(UserError, match=r"answers on 127.0.0.1 only, .*--node-ip-address"),
    ):
        configured(tmp_path, "agent=scripted", *on(f"127.0.0.1:{port}", 1)).prepare()
    assert list(tmp_path.iterdir()) == []


class Notes(RunEvents):
    """Stops the run as soon as something is said about it."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.stop = asyncio.Event()

    def noted(self, text: str) -> None:
        self.said.append(text)
        self.stop.set()


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("workers", "resources", "reason"),
    [
        (1, {"num_gpus": 1.0}, r"1 of 1 Ray worker still to start: no node .* \(GPU 1\)"),
        (2, {"num_cpus": 1.0, "odd": 9.0}, r"2 of 2 Ray workers .*: no node .* odd 9\)"),
        # A node that another test has killed may still be counted.
        (6, {"num_cpus": 1.0}, r"of 6 Ray workers .*: the cluster has room for [2-5] .*CPU 1 each"),
    ],
)
def test_what_workers_wait_for_is_said(
    cluster: Any, tmp_path: Path, workers: int, resources: dict[str, float], reason: str
) -> None:
    agent = f"agent.name={ENDLESS}"
    run = configured(tmp_path, agent, *on(cluster.address, workers, **resources))
    notes = Notes()

    async def work() -> None:
        await run.play(run.prepare(), notes, notes.stop, lambda running: None)

    asyncio.run(work())
    assert len(notes.said) == 1
    assert re.search(reason, notes.said[0])


@pytest.mark.timeout(600)
def test_a_vector_says_what_its_actors_wait_for(
    cluster: Any, caplog: pytest.LogCaptureFixture
) -> None:
    made: list[RayVector] = []

    def make() -> None:
        made.append(RayVector("mastermind", 6, address=cluster.address, actors=6))

    making = threading.Thread(target=make)
    making.start()
    until = time.monotonic() + 120
    while "still to start: the cluster has room for" not in caplog.text:
        assert time.monotonic() < until
        time.sleep(0.1)
    room = cluster.add_node(num_cpus=4)
    making.join()
    made[0].close()
    cluster.remove_node(room)


@pytest.mark.timeout(600)
def test_an_actor_does_not_outlive_its_node(cluster: Any, tmp_path: Path) -> None:
    node = cluster.add_node(num_cpus=1, resources={"doomed": 1})
    cluster.wait_for_nodes(timeout=180)
    raylet = node.all_processes["raylet"][0].process.pid
    where = on(cluster.address, 1, doomed=1.0)
    run = configured(tmp_path, f"agent.name={__name__}:Stuck", *where)

    async def work() -> list[int]:
        stop = asyncio.Event()
        playing = asyncio.create_task(
            run.play(run.prepare(), RunEvents(), stop, lambda running: None)
        )
        live = run.directory.path / "live.jsonl"
        await eventually(lambda: live.exists() and live.stat().st_size > 0)
        actors = find_actors(raylet)
        node.kill_raylet()
        await eventually(lambda: not any(is_alive(actor) for actor in actors))
        stop.set()
        await playing
        return actors

    assert len(asyncio.run(work())) == 1
    cluster.remove_node(node, allow_graceful=False)


async def eventually(condition: Callable[[], bool]) -> None:
    for _ in range(600):
        if condition():
            return
        await asyncio.sleep(0.1)
    raise AssertionError("it never came true")


def is_alive(pid: int) -> bool:
    try:
        return _read_stat(pid)[0] != "Z"
    except OSError:
        return False


def find_actors(raylet: int) -> list[int]:
    """The pids of a node's workers that are actors of ours."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_actor = (folder / "cmdline").read_bytes().startswith(b"ray::EpisodeActor")
            if is_actor and int(_read_stat(int(folder.name))[1]) == raylet:
                found.append(int(folder.name))
    return found


def _read_stat(pid: int) -> list[str]:
    """The state of a process, its parent, and more."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


class Stuck(ScriptedAgent):
    """Waits after a while and lets nothing else of its process happen."""

    acted = 0

    async def act(self, observation: Observation) -> Answer:
        Stuck.acted += 1
        if Stuck.acted > 20:
            time.sleep(600)  # noqa: ASYNC251
        await asyncio.sleep(0.05)
        return await super().act(observation)


class Waiting(ScriptedAgent):
    """Makes one step and no other, so that every signal finds an episode that has begun."""

    has_acted = False

    async def act(self, observation: Observation) -> Answer:
        if self.has_acted:
            await asyncio.sleep(600)
        self.has_acted = True
        return await super().act(observation)


ENDLESS = f"{__name__}:Endless"


class Endless(ScriptedAgent):
    """Never acts, so that the run goes on until it is stopped."""

    async def act(self, observation: Observation) -> Answer:
        await asyncio.sleep(600)
        return await super().act(observation)


def test_limits_hold_for_the_whole_run_however_many_workers() -> None:
    limits = {"requests_per_minute": 100, "tokens_per_minute": 9000, "max_concurrency": 6}
    context = RunContext(
        "run", "hash", Choice("alfworld"), Choice("react"), model=Choice("x", limits)
    )
    for wanted in (1, 3, 4, 6, 7, 64):
        shared, workers = divide_limits(context, wanted)
        assert 1 <= workers <= min(wanted, 6)
        assert shared.model is not None
        for name, limit in limits.items():
            assert 1 <= shared.model.settings[name] * workers <= limit
    assert divide_limits(RunContext("r", "h", Choice("b"), Choice("a")), 64)[1] == 64
