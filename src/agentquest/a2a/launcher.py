"""One command: start the agents, have one test the other, stop both whatever happens.

Each agent runs in its own session, so that Ctrl-C reaches the launcher alone and
the whole group can be ended; and each holds a pipe from the launcher, so that it
ends by itself if the launcher is killed.
"""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar
from uuid import uuid4

from agentquest.a2a import limits
from agentquest.a2a.addresses import without_password
from agentquest.a2a.client.connection import A2AEndpoint, find_agent
from agentquest.a2a.client.transport import AgentBroken, AgentUnreachable
from agentquest.a2a.client.wire import (
    AgentError,
    MessageIds,
    PartsContent,
    read_parts,
    read_result,
    write_message,
)
from agentquest.a2a.config import AssessmentConfig
from agentquest.a2a.requests import OWN_TROUBLE, write_request
from agentquest.errors import AgentQuestError, ConfigError, UserError
from agentquest.http.sockets import free_port, is_free, port_in_use
from agentquest.platform import end_group, handle_signals, own_group, stop_signals
from agentquest.safe_text import visible

# How a launcher hands headers to the green agent that it starts.
HEADERS_VARIABLE = "AGENTQUEST_AGENT_HEADERS"
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_RULE = "=" * 70
_RESULT = "Result"
_NOT_FAILED = ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED")
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


class AgentProcessFailed(AgentQuestError):
    """A launched agent did not start, or ended before its work was done."""


class AssessmentFailed(AgentQuestError):
    """The green agent did not come to a result; the text is its reason."""


@dataclass(frozen=True)
class GreenAnswer:
    """The summary for people, and the figures."""

    text: str
    data: dict[str, Any]


def run(launch: Launch, say: Say) -> GreenAnswer:
    """Run a launch to its end, reporting what happens."""
    return asyncio.run(_run_until_signal(_run(launch, say)))


async def _run_until_signal(work: Awaitable[T]) -> T:
    """Turn the first signal into a cancellation, so that everything is cleaned up."""
    task = asyncio.ensure_future(work)
    caught: list[int] = []

    def stop(number: int) -> None:
        if not caught:
            task.cancel()
        caught.append(number)

    with handle_signals(stop_signals(), stop):
        try:
            return await task
        except asyncio.CancelledError:
            if caught:
                raise Interrupted(caught[0]) from None
            raise


async def _run(launch: Launch, say: Say) -> GreenAnswer:
    async with AsyncExitStack() as stack:
        # The green agent is started last and so stopped first: otherwise it would take the
        # end of the white agent for a failure.
        wanted = {} if launch.agent_url else {"white": launch.white_port}
        wanted["green"] = launch.green_port
        ports = {role: await _choose_port(launch.host, wanted[role], role) for role in wanted}
        stack.callback(say, "✓ Agents terminated successfully.")
        agents = {role: _start(role, launch, port, stack) for role, port in ports.items()}
        green, white = agents["green"], agents.get("white")
        say(f"Launching green agent on port {green.port}…")
        if white is not None:
            say(f"Launching white agent ({launch.white_agent_type}) on port {white.port}…")
        stack.callback(say, "Terminating agents…")
        endpoint = await green.wait_until_ready(say)
        if white is not None:
            await white.wait_until_ready(say)
        url = str(launch.agent_url) if white is None else white.url
        text = write_request(url, launch.config)
        say(visible(write_request(without_password(url).url, launch.config).rstrip()))
        try:
            result = await asyncio.wait_for(ask_green(endpoint, text, say), launch.timeout)
        except asyncio.TimeoutError:
            raise AssessmentFailed(f"no result within {launch.timeout:g} s (--timeout)") from None
        except AssessmentFailed as error:
            if not str(error).endswith(OWN_TROUBLE):
                raise
            raise AssessmentFailed(f"{error}:\n{green.read_output_end()}") from None
        say(f"{_RULE}\nASSESSMENT RESULTS\n{_RULE}\n{result.text}")
        say(f"Logs: {launch.log_dir / str(result.data['run_id'])}")
        return result


class _LaunchedAgent:
    """`python -m agentquest green` or `white`, started at once; it may not answer yet.

    Secrets are in its environment, which others cannot read as they can its arguments.
    """

    def __init__(self, role: str, launch: Launch, port: int) -> None:
        self.role = role
        self.port = port
        self.url = f"http://{launch.host}:{port}/"
        self._host = launch.host
        self._headers = _bearer(launch.token)
        self._launch_id = uuid4().hex
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        options = ["--host", launch.host, "--port", str(port), "--launched-by", self._launch_id]
        options += _green_options(launch) if role == "green" else _white_options(launch)
        if launch.data_path is not None:
            options += ["--data-path", launch.data_path]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "agentquest", role, *options],
            stdin=subprocess.PIPE,
            stdout=self._output,
            stderr=self._output,
            **own_group(),
            env={**os.environ, **_variables(role, launch)},
        )

    async def wait_until_ready(self, say: Say) -> A2AEndpoint:
        """Wait for the agent. Its card has our launch's id; that of some older agent has not."""
        deadline = asyncio.get_running_loop().time() + limits.START_TIMEOUT_S
        while asyncio.get_running_loop().time() < deadline:
            if (code := self._process.poll()) is not None:
                raise AgentProcessFailed(
                    f"the {self.role} agent ended (exit {code}): {self.read_output_end()}"
                )
            endpoint = await _try_to_find(self.url, self._headers)
            if endpoint is not None and endpoint.card.launch_id == self._launch_id:
                say(f"✓ {self.role.title()} agent is ready on port {self.port}.")
                return endpoint
            if endpoint is not None:
                raise UserError(
                    f"another agent ({endpoint.card.agent.name}) answers on port {self.port},"
                    " not the one just started; stop it, or use"
                    f" --{self.role}-port {free_port(self._host)}"
                )
            await asyncio.sleep(0.05)
        raise AgentProcessFailed(
            f"the {self.role} agent did not answer on port {self.port}"
            f" in {limits.START_TIMEOUT_S:g} s"
        )

    def read_output_end(self) -> str:
        """The last that it has printed."""
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, size - limits.SHOWN_OUTPUT_BYTES))
        return self._output.read().decode("utf-8", "replace").strip() or "it printed nothing"

    async def stop(self) -> None:
        """End the process and whatever it started. Harmless when it has ended."""
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        end_group(process.pid)
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(process.wait, limits.TERMINATE_S)
        end_group(process.pid, at_once=True)
        process.wait()
        self._output.close()


def _start(role: str, launch: Launch, port: int, stack: AsyncExitStack) -> _LaunchedAgent:
    agent = _LaunchedAgent(role, launch, port)
    stack.push_async_callback(agent.stop)
    return agent


def _variables(role: str, launch: Launch) -> dict[str, str]:
    """Environment variables: secrets, and what must not reach both agents."""
    variables = {"AGENTQUEST_TOKEN": launch.token, "AGENT_URL": "", "GATEWAY_PROXY_URL": ""}
    if role == "green":
        ours = _bearer(launch.token) if launch.agent_url is None else {}
        if headers := {**launch.headers, **ours}:
            variables[HEADERS_VARIABLE] = json.dumps(headers)
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


async def _choose_port(host: str, port: int, role: str) -> int:
    if port == 0:
        return free_port(host)
    if is_free(host, port):
        return port
    endpoint = await _try_to_find(f"http://{host}:{port}/")
    user = f"an agent ({endpoint.card.agent.name})" if endpoint else "another program"
    raise port_in_use(host, port, f"--{role}-port", user)


async def _try_to_find(url: str, headers: Mapping[str, str] | None = None) -> A2AEndpoint | None:
    try:
        return await find_agent(url, limits.LOCAL_CARD_TIMEOUT_S, headers)
    except (AgentBroken, AgentUnreachable):
        return None


async def ask_green(green: A2AEndpoint, request: str, say: Say) -> GreenAnswer:
    """Send a request to a green agent and follow it to its end; `say` is given all progress.

    Silence can be long, so the caller sets the time limit.
    """
    http = green.new_http()
    ids = MessageIds(str(uuid4()), str(uuid4()))
    result: GreenAnswer | None = None
    try:
        async for event in http.events(write_message(green.interface, ids, request, stream=True)):
            content = read_result(event)
            if "artifactUpdate" in content:
                result = _read_artifact(content["artifactUpdate"]["artifact"]) or result
            elif "statusUpdate" in content:
                _follow(content["statusUpdate"]["status"], say)
    except (AgentBroken, AgentError, AgentUnreachable, KeyError, TypeError) as error:
        raise AssessmentFailed(f"the green agent gave no result: {error}") from None
    finally:
        await http.close()
    if result is None:
        raise AssessmentFailed("the green agent ended without a result")
    return result


def _follow(status: dict[str, Any], say: Say) -> None:
    text = _visible_text(read_parts(status.get("message") or {}))
    if status["state"] not in _NOT_FAILED:
        name = str(status["state"]).removeprefix("TASK_STATE_").lower()
        raise AssessmentFailed(text or f"the assessment was {name}")
    if text and status["state"] == "TASK_STATE_WORKING":
        say(text)


def _read_artifact(artifact: dict[str, Any]) -> GreenAnswer | None:
    data = [part["data"] for part in artifact["parts"] if isinstance(part.get("data"), dict)]
    if artifact.get("name") != _RESULT or not data:
        return None
    return GreenAnswer(_visible_text(read_parts(artifact)), data[0])


def _visible_text(content: PartsContent) -> str:
    """The text of a green agent, which contains words of the agent under test."""
    return visible("\n".join(content.pieces))


def read_agent_headers(
    given: Sequence[str], environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Headers for the agent under test: `Name: value`, or `Name: $VARIABLE` with its value in
    the environment; a launcher passes them on in an environment variable."""
    try:
        headers: dict[str, str] = dict(json.loads(environment.get(HEADERS_VARIABLE) or "{}"))
    except (TypeError, ValueError):
        raise ConfigError(f"{HEADERS_VARIABLE} is not a JSON object of headers") from None
    for text in given:
        name, colon, value = text.partition(":")
        name, value = name.strip(), value.strip()
        # What was given may be a key, so it is not shown.
        if not colon or not value or not _HEADER_NAME.fullmatch(name):
            raise ConfigError("--agent-header must be of the form `Name: value`")
        if value.startswith("$"):
            variable = value.removeprefix("$")
            if not environment.get(variable):
                raise ConfigError(f"--agent-header: {variable} is not set in the environment")
            value = environment[variable].strip()
        if not value.isascii() or not value.isprintable():
            raise ConfigError(f"--agent-header: the value of {name} cannot be sent")
        headers[name] = value
    return headers


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
