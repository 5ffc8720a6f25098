"""A server that goes away in the middle of a run is waited for, and given up at last."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from evaluator_runs import evaluate
from explorer_answers import answer

from agentquest.records.episode import Step
from agentquest.records.messages import Message
from agentquest.records.outcome import End
from agentquest.running.events import RunEvents
from agentquest.running.spec import EpisodeSpec
from chat_server import ChatServer


class Onlooker(RunEvents):
    def __init__(self) -> None:
        self.trouble: Callable[[], str] = lambda: ""
        self.went_on = asyncio.Event()

    def playing(self, trouble: Callable[[], str]) -> None:
        self.trouble = trouble

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        self.went_on.set()


def settings(url: str, **more: object) -> list[str]:
    return [
        "llm.model=rules",
        f"llm.base_url={url}",
        "llm.wait_interval=0.02",
        "llm.max_retries=3",
        "agent.history_length=60",
        "num_games=6",
        "parallel=2",
        *(f"{key}={value}" for key, value in more.items()),
    ]


async def until_away(watcher: Onlooker) -> str:
    for _ in range(2000):
        if "server down" in (line := watcher.trouble()):
            return line
        await asyncio.sleep(0.01)
    raise AssertionError("nobody said that the server is away")


async def test_it_is_waited_for_and_said_to_be_away(tmp_path: Path) -> None:
    server = await ChatServer(answer).start()
    port = int(server.url.split(":")[2].split("/")[0])
    watcher = Onlooker()
    playing = asyncio.ensure_future(
        evaluate(tmp_path, *settings(server.url, max_steps=6), watcher=watcher)
    )
    await watcher.went_on.wait()
    await server.close()
    assert "connection failed" in await until_away(watcher)
    again = await ChatServer(answer).start(port)
    run, reason = await playing
    await again.close()
    assert reason is None
    assert run.pending == []
    assert watcher.trouble() == ""


async def test_one_that_stays_away_ends_the_run_and_leaves_the_rest_owed(tmp_path: Path) -> None:
    server = await ChatServer(answer).start()
    watcher = Onlooker()
    more = {"max_steps": 6, "llm.deadline_s": 0.5}
    playing = asyncio.ensure_future(
        evaluate(tmp_path, *settings(server.url, **more), watcher=watcher)
    )
    await watcher.went_on.wait()
    await server.close()
    run, reason = await playing
    assert reason is not None
    assert "connection failed" in reason
    failed = [record for record in run.records if record.end is End.INFRASTRUCTURE_FAULT]
    assert 1 <= len(failed) <= 2, "those under way; the others did not wait all over again"
    assert all(record.error and record.error.kind == "ServerAway" for record in failed)
    assert len(run.pending) >= 4
