"""Handing episodes to workers that may die, with workers that are only objects."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
from run_events import Recorder, a_record, a_spec, a_step

from agentquest.errors import UserError
from agentquest.running.executors import pool
from agentquest.running.executors.pool import Event, Pool, Worker, divide_limits
from agentquest.running.spec import Choice, EpisodeSpec
from episode_players import a_context

Tell = Callable[[Worker, Event], None]


class InMemory(Worker):
    """Plays every episode at once, unless it is one of those that kill it."""

    def __init__(self, name: str, tell: Tell, deadly: Sequence[str] = ()) -> None:
        super().__init__(name, tell)
        self.deadly = deadly
        self.leases: list[list[str]] = []
        self.ended = False

    def play(self, specs: Sequence[EpisodeSpec]) -> None:
        self.leases.append([spec.task.id for spec in specs])
        for spec in specs:
            self.tell(self, Event("started", spec.key))
        if any(spec.task.id in self.deadly for spec in specs):
            self.tell(self, Event("gone", message="killed"))
            return
        for spec in specs:
            self.tell(self, Event("stepped", spec.key, a_step()))
            self.tell(self, Event("finished", spec.key, record=a_record(spec)))

    def stop(self) -> None:
        self.tell(self, Event("gone"))

    async def end(self) -> None:
        self.ended = True


class Workers(list[InMemory]):
    """Makes workers and remembers them."""

    def __init__(self, kind: type[InMemory] = InMemory, deadly: Sequence[str] = ()) -> None:
        super().__init__()
        self._kind, self._deadly = kind, deadly

    def new(self, name: str, tell: Tell) -> Worker:
        self.append(self._kind(name, tell, self._deadly))
        return self[-1]


async def _play(
    workers: Workers,
    count: int,
    number: int = 2,
    width: int = 3,
    stop: asyncio.Event | None = None,
) -> Recorder:
    heard = Recorder()
    specs = [a_spec(f"test/{place}") for place in range(count)]
    whole = Pool(workers.new, "worker", specs, heard, number, width)
    await asyncio.wait_for(whole.run(stop or asyncio.Event()), 20)
    return heard


def _finished(heard: Recorder) -> list[str]:
    return [spec.task.id for name, spec, *_ in heard.heard if name == "finished"]


async def test_every_episode_is_played_once_and_saved_before_it_is_finished() -> None:
    workers = Workers()
    heard = await _play(workers, 20)
    assert sorted(_finished(heard)) == sorted(f"test/{place}" for place in range(20))
    assert heard.names.count("stepped") == 20
    for place in range(20):
        key = a_spec(f"test/{place}").key
        about = [name for name, told, *_ in heard.heard if told.key == key]
        assert about == ["started", "stepped", "save", "finished"]
    assert all(worker.ended for worker in workers)


async def test_free_places_are_filled_evenly_and_no_further() -> None:
    workers = Workers()
    await _play(workers, 5, number=2, width=2)
    assert [worker.leases[0] for worker in workers] == [["test/0", "test/2"], ["test/1", "test/3"]]


async def test_the_episodes_of_a_dead_worker_are_played_elsewhere() -> None:
    class DiesOnce(InMemory):
        def play(self, specs: Sequence[EpisodeSpec]) -> None:
            if self.name == "worker-1":
                self.tell(self, Event("gone"))
            else:
                super().play(specs)

    workers = Workers(DiesOnce)
    heard = await _play(workers, 6, number=1, width=2)
    assert len(_finished(heard)) == 6
    assert [worker.name for worker in workers] == ["worker-1", "worker-2"]


async def test_an_episode_that_kills_its_workers_is_not_played_for_ever() -> None:
    workers = Workers(deadly=["test/2"])
    heard = await _play(workers, 5, number=1, width=1)
    assert sorted(_finished(heard)) == ["test/0", "test/1", "test/3", "test/4"]
    attempts = [lease for worker in workers for lease in worker.leases if lease == ["test/2"]]
    assert len(attempts) == 2


async def test_workers_that_die_while_starting_end_the_run() -> None:
    class Stillborn(InMemory):
        def __init__(self, name: str, tell: Tell, deadly: Sequence[str] = ()) -> None:
            super().__init__(name, tell, deadly)
            self.ready = False
            tell(self, Event("gone", message="no room"))

    workers = Workers(Stillborn)
    with pytest.raises(UserError, match="9 workers in a row died while starting: no room"):
        await _play(workers, 3, number=1)


async def test_workers_that_never_start_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Waiting(InMemory):
        def __init__(self, name: str, tell: Tell, deadly: Sequence[str] = ()) -> None:
            super().__init__(name, tell, deadly)
            self.ready = False

    monkeypatch.setattr(pool, "_START_S", 0.01)
    with pytest.raises(UserError, match="no worker started"):
        await _play(Workers(Waiting), 3)


async def test_what_a_worker_cannot_make_ends_the_run_with_its_reason() -> None:
    class Unable(InMemory):
        def play(self, specs: Sequence[EpisodeSpec]) -> None:
            self.tell(self, Event("failed", message="no such agent"))

    workers = Workers(Unable)
    with pytest.raises(UserError, match="no such agent"):
        await _play(workers, 3)
    assert all(worker.ended for worker in workers)


async def test_stopping_saves_what_was_under_way() -> None:
    stop = asyncio.Event()

    class Slow(InMemory):
        def play(self, specs: Sequence[EpisodeSpec]) -> None:
            for spec in specs:
                self.tell(self, Event("started", spec.key))
            stop.set()

        def stop(self) -> None:
            for spec in list(self.playing.values()):
                self.tell(self, Event("cut_short", spec.key, record=a_record(spec)))
            super().stop()

    heard = await _play(Workers(Slow), 9, number=2, width=2, stop=stop)
    assert heard.names.count("save") == heard.names.count("cut_short") == 4
    assert "finished" not in heard.names


@pytest.mark.parametrize(
    ("limits", "workers", "shares", "number"),
    [
        ({"requests_per_minute": 120}, 4, {"requests_per_minute": 30}, 4),
        ({"requests_per_minute": 3}, 8, {"requests_per_minute": 1}, 3),
        (
            {"tokens_per_minute": 1000, "max_concurrency": 4},
            2,
            {"tokens_per_minute": 500, "max_concurrency": 2},
            2,
        ),
        ({"requests_per_minute": None, "temperature": 0.7}, 5, {"temperature": 0.7}, 5),
    ],
)
def test_the_limits_of_a_run_are_divided_among_its_workers(
    limits: dict[str, float | None], workers: int, shares: dict[str, float], number: int
) -> None:
    context, found = divide_limits(a_context(model=Choice("openai", limits)), workers)
    assert context.model is not None
    assert (dict(context.model.settings), found) == ({**limits, **shares}, number)


def test_an_agent_without_a_model_has_no_limits_to_divide() -> None:
    context = a_context()
    assert divide_limits(context, 3) == (context, 3)
