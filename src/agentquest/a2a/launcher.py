"""One command: start the agents, have one test the other, stop both whatever happens."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from agentquest.a2a.addresses import without_password
from agentquest.a2a.assessment_config import AssessmentConfig
from agentquest.a2a.connection import RemoteParty, find_agent
from agentquest.a2a.green_client import AssessmentFailed, GreenAnswer, ask
from agentquest.a2a.headers import bearer, in_environment
from agentquest.a2a.processes import AgentProcess, AgentProcessFailed
from agentquest.a2a.requests import request_text
from agentquest.a2a.transport import AgentBroken, AgentUnreachable
from agentquest.errors import AgentQuestError, UserError
from agentquest.http.sockets import PortInUse, free_port, is_free
from agentquest.reports.safe_text import one_line, visible

_START_S = 60.0
_CARD_S = 2.0
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
    resume: bool = False
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    # Only the launcher may use the agents that it starts: they may have its owner's keys.
    token: str = field(default_factory=lambda: uuid4().hex, repr=False)


class Interrupted(AgentQuestError):
    """The launcher was told to stop; `number` is the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}; both agents are stopped too")
        self.number = number


def run(launch: Launch, say: Say) -> GreenAnswer:
    """Run a launch to its end, reporting what happens."""
    return asyncio.run(_until_signalled(_launched(launch, say)))


async def _until_signalled(work: Awaitable[T]) -> T:
    """Turn the first signal into a cancellation, so that everything is cleaned up."""
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


async def _launched(launch: Launch, say: Say) -> GreenAnswer:
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
        party = await green.ready(say)
        if white is not None:
            await white.ready(say)
        url = str(launch.agent_url) if white is None else white.url
        text = request_text(url, launch.config)
        say(visible(request_text(without_password(url).url, launch.config).rstrip()))
        try:
            result = await asyncio.wait_for(ask(party, text, say), launch.timeout)
        except asyncio.TimeoutError:
            raise AssessmentFailed(f"no result within {launch.timeout:g} s (--timeout)") from None
        say(f"{_RULE}\nASSESSMENT RESULTS\n{_RULE}\n{result.text}")
        say(f"Logs: {launch.log_dir / str(result.data['run_id'])}")
        return result


@dataclass(frozen=True)
class _Started:
    """An agent whose process runs; it may not answer yet."""

    role: str
    host: str
    port: int
    launch_id: str
    process: AgentProcess
    token: str = field(repr=False)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/"

    async def ready(self, say: Say) -> RemoteParty:
        """The agent. Only a card with our launch's id is its own and not some older agent's."""
        deadline = asyncio.get_running_loop().time() + _START_S
        while asyncio.get_running_loop().time() < deadline:
            self.process.check()
            party = await _party(self.url, bearer(self.token))
            if party is not None and party.card.launch_id == self.launch_id:
                say(f"✓ {self.role.title()} agent is ready on port {self.port}.")
                return party
            if party is not None:
                raise UserError(
                    f"another agent ({one_line(party.card.name)}) answers on port {self.port},"
                    " not the one just started; stop it, or use"
                    f" --{self.role}-port {free_port(self.host)}"
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
    arguments += _green_options(launch) if role == "green" else _white_options(launch)
    if launch.data_path is not None:
        arguments += ["--data-path", launch.data_path]
    process = AgentProcess(f"{role} agent", arguments, _variables(role, launch))
    stack.push_async_callback(process.stop)
    return _Started(role, launch.host, port, launch_id, process, launch.token)


def _variables(role: str, launch: Launch) -> dict[str, str]:
    """What others must not read, and what is not meant for both agents."""
    variables = {"AGENTQUEST_TOKEN": launch.token, "AGENT_URL": "", "GATEWAY_PROXY_URL": ""}
    if role == "green":
        ours = bearer(launch.token) if launch.agent_url is None else {}
        variables |= in_environment({**launch.headers, **ours})
    return variables


def _green_options(launch: Launch) -> list[str]:
    options = ["--log-dir", str(launch.log_dir)]
    if launch.agent_url is not None:
        options += ["--allow-agent", without_password(launch.agent_url).url]
    return [*options, *(["--resume"] if launch.resume else [])]


def _white_options(launch: Launch) -> list[str]:
    config = launch.config
    options = ["--type", launch.white_agent_type, "--benchmark", config.benchmark]
    return [*options, "--split", config.split, "--seed", str(config.seed)]


async def _port(host: str, port: int, option: str) -> int:
    if port == 0:
        return free_port(host)
    if is_free(host, port):
        return port
    party = await _party(f"http://{host}:{port}/")
    named = (
        f"an agent that is already running ({one_line(party.card.name)})"
        if party
        else "another program"
    )
    raise PortInUse(
        f"port {port} on {host} is in use by {named}; stop it, or try {option} {free_port(host)}"
    )


async def _party(url: str, headers: Mapping[str, str] | None = None) -> RemoteParty | None:
    try:
        return await find_agent(url, _CARD_S, headers)
    except (AgentBroken, AgentUnreachable):
        return None
