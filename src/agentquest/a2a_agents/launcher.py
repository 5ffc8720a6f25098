"""One command: start the agents, have one test the other, stop both whatever happens."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver
from a2a.client.errors import AgentCardResolutionError
from a2a.types import AgentCard

from agentquest.a2a_agents import ports
from agentquest.a2a_agents.asking import AssessmentFailed, AssessmentResult, ask
from agentquest.a2a_agents.cards import launch_id_of
from agentquest.a2a_agents.processes import AgentProcess, AgentProcessFailed
from agentquest.a2a_agents.requests import AssessmentConfig, request_text
from agentquest.errors import AgentQuestError, UserError

_START_S = 60.0
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_RULE = "=" * 70
T = TypeVar("T")
Say = Callable[[str], None]


@dataclass(frozen=True)
class Launch:
    """What is launched. Ports of 0 mean any; an `agent_url` is tested instead of a white agent."""

    config: AssessmentConfig
    white_agent_type: str
    agent_url: str | None = None
    host: str = "localhost"
    green_port: int = 9001
    white_port: int = 9002
    log_dir: Path = Path("logs")
    data_path: str | None = None
    timeout: float | None = None


class Interrupted(AgentQuestError):
    """The launcher was told to stop; `number` is the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}; both agents are stopped too")
        self.number = number


def run(launch: Launch, say: Say) -> AssessmentResult:
    """Carry out a launch to its end, telling what happens."""
    return asyncio.run(_until_signalled(_launched(launch, say)))


async def _until_signalled(work: Awaitable[T]) -> T:
    """Turn the first signal into a cancellation, so that everything is put away properly."""
    task = asyncio.ensure_future(work)
    caught: list[int] = []

    def stop(number: int) -> None:
        if not caught:
            task.cancel()
        caught.append(number)

    loop = asyncio.get_running_loop()
    for name in _SIGNALS:
        number = getattr(signal, name, None)
        if number is not None:
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if caught:
            raise Interrupted(caught[0]) from None
        raise


async def _launched(launch: Launch, say: Say) -> AssessmentResult:
    async with AsyncExitStack() as stack:
        stack.callback(say, "✓ Agents terminated successfully.")
        # The green agent is started last and so stopped first: it must not take the end of a
        # run for a failure of the agent under test.
        white = None if launch.agent_url else await _start("white", launch, stack)
        green = await _start("green", launch, stack)
        say(f"Launching green agent on port {green.port}…")
        if white is not None:
            say(f"Launching white agent ({launch.white_agent_type}) on port {white.port}…")
        stack.callback(say, "Terminating agents…")
        card = await green.ready(say)
        if white is not None:
            await white.ready(say)
        url = launch.agent_url if white is None else white.url
        text = request_text(str(url), launch.config)
        say(text.rstrip())
        try:
            result = await asyncio.wait_for(ask(card, text, say), launch.timeout)
        except asyncio.TimeoutError:
            raise AssessmentFailed(f"no result within {launch.timeout:g} s (--timeout)") from None
        say(f"{_RULE}\nASSESSMENT RESULTS\n{_RULE}\n{result.text}")
        return result


@dataclass(frozen=True)
class _Started:
    """An agent whose process runs; it may not answer yet."""

    role: str
    host: str
    port: int
    launch_id: str
    process: AgentProcess

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/"

    async def ready(self, say: Say) -> AgentCard:
        """Its card. Only a card with our launch's id is its own and not some older agent's."""
        deadline = asyncio.get_running_loop().time() + _START_S
        while asyncio.get_running_loop().time() < deadline:
            self.process.check()
            card = await _card(self.url)
            if card is not None and launch_id_of(card) == self.launch_id:
                say(f"✓ {self.role.title()} agent is ready on port {self.port}.")
                return card
            if card is not None:
                raise UserError(
                    f"another agent ({card.name!r}) answers on port {self.port}, not the one just"
                    f" started; stop it, or use --{self.role}-port {ports.free_port(self.host)}"
                )
            await asyncio.sleep(0.05)
        raise AgentProcessFailed(
            f"the {self.role} agent did not answer on port {self.port} in {_START_S:g} s"
        )


async def _start(role: str, launch: Launch, stack: AsyncExitStack) -> _Started:
    wanted = launch.green_port if role == "green" else launch.white_port
    port = await _port(launch.host, wanted, f"--{role}-port")
    launch_id = uuid4().hex
    arguments = [role, "--host", launch.host, "--port", str(port), "--launched-by", launch_id]
    # Said outright, because AGENT_URL would give both the same address.
    arguments += ["--card-url", f"http://{launch.host}:{port}/"]
    arguments += _green_options(launch) if role == "green" else _white_options(launch)
    if launch.data_path is not None:
        arguments += ["--data-path", launch.data_path]
    process = AgentProcess(f"{role} agent", arguments)
    stack.push_async_callback(process.stop)
    return _Started(role, launch.host, port, launch_id, process)


def _green_options(launch: Launch) -> list[str]:
    return ["--log-dir", str(launch.log_dir)]


def _white_options(launch: Launch) -> list[str]:
    config = launch.config
    options = ["--type", launch.white_agent_type, "--benchmark", config.benchmark]
    return [*options, "--split", config.split, "--seed", str(config.seed)]


async def _port(host: str, port: int, option: str) -> int:
    if port == 0:
        return ports.free_port(host)
    if ports.is_free(host, port):
        return port
    card = await _card(f"http://{host}:{port}/")
    holder = f"an agent that already runs ({card.name!r})" if card else "another program"
    raise ports.PortInUse(
        f"port {port} on {host} is in use by {holder}; stop it, or try"
        f" {option} {ports.free_port(host)}"
    )


async def _card(url: str) -> AgentCard | None:
    async with httpx.AsyncClient(timeout=2.0, trust_env=False) as http:
        try:
            return await A2ACardResolver(http, url).get_agent_card()
        except AgentCardResolutionError:
            return None
