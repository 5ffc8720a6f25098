"""Whatever comes in from outside is understood, or is one clear error: every boundary, fuzzed.

Each boundary is given damaged copies of what it reads when all is well, and things that
were made to harm. `AGENTQUEST_FUZZ=2000 pytest tests/contract/test_boundaries.py` (`make
fuzz`) tries so many of each; without it a few are tried.
"""

import contextlib
import copy
import json
import os
import random
import shutil
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from boundary_samples import (
    ANTHROPIC,
    CARD,
    CHAT,
    FRAMES,
    GEMINI,
    HARM,
    HOME,
    INSTRUCTIONS,
    MESSAGE_EVENTS,
    ODD,
    OPENINGS,
    PEOPLES,
    PRODUCT,
    PROTOCOL,
    REQUEST,
    REQUESTS,
    RESPONSE,
    TAGGED,
    TALK,
    USAGE,
)
from starlette.applications import Starlette
from starlette.testclient import TestClient

from agentquest.a2a.addresses import AllowList, find_fault, origin_of, without_password
from agentquest.a2a.client.cards import make_reachable, read_card
from agentquest.a2a.client.connection import restrict_card
from agentquest.a2a.client.wire import AgentError, PendingReply, add_result, read_result
from agentquest.a2a.messages import read_message, read_usage
from agentquest.a2a.remote_agent import parse_action
from agentquest.a2a.requests import parse_request
from agentquest.adapters.agentbench import AgentBenchWorker, WorkerTerms
from agentquest.adapters.agentgym import agentgym_app
from agentquest.adapters.arenas import shared_arena
from agentquest.adapters.openenv_server import OpenEnvServer, Terms, WireSession
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import read_game
from agentquest.benchmarks.alfworld.game import open_game
from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.game import WebshopGame
from agentquest.benchmarks.webshop.shop.shop import LONGEST_ACTION, Shop
from agentquest.config import load_config
from agentquest.errors import AgentQuestError
from agentquest.lib import Arena
from agentquest.llms.anthropic import AnthropicMessages, AnthropicSettings
from agentquest.llms.failures import ModelFailure, Transient
from agentquest.llms.gemini import GeminiModel, GeminiSettings
from agentquest.llms.openai_chat import OpenAIChat, OpenAISettings
from agentquest.llms.openai_responses import OpenAIResponses, ResponsesSettings
from agentquest.llms.transport import HttpAnswer
from agentquest.protocols import read_protocol
from agentquest.records.episode import Call, LiveEvent, read_call
from agentquest.records.manifest import MeasuredMetrics
from agentquest.records.messages import Message, ToolCall
from agentquest.reports.exports import export_run
from agentquest.reports.render.text import text_report
from agentquest.store.folder import EPISODES, MANIFEST, METRICS
from agentquest.store.index import INDEX, stamp_figures
from agentquest.store.library import Library
from agentquest.store.lines import seal
from agentquest.store.live import LIVE, read_live
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.addresses import SITE
from agentquest.viewer.episode_page import episode_page
from agentquest.viewer.layout import render
from agentquest.viewer.prompt_page import prompts_page
from agentquest.viewer.replay import analyse_episode
from report_runs import manifest, record, saved, step

TRIES = int(os.environ.get("AGENTQUEST_FUZZ", "60"))


def damaged(sample: bytes, rng: random.Random) -> bytes:
    """A copy that is wrong somewhere: in its structure where it has one, else in its bytes."""
    if sample.startswith(b"data: ") and rng.random() < 0.7:
        events = sample.split(b"\n\n")
        at = rng.randrange(len(events) - 1)
        events[at] = b"data: " + damaged(events[at].removeprefix(b"data: "), rng)
        if rng.random() < 0.2:
            rng.shuffle(events)
        return b"\n\n".join(events)
    try:
        content = json.loads(sample)
    except ValueError:
        content = None
    if isinstance(content, dict | list) and rng.random() < 0.7:
        for _ in range(rng.choice((1, 1, 2, 5))):
            content = _changed(content, rng) if isinstance(content, dict | list) else content
        return json.dumps(content).encode()
    raw = bytearray(sample)
    for _ in range(rng.choice((1, 1, 3, 10))):
        at = rng.randrange(len(raw) + 1)
        how = rng.randrange(4)
        if how == 0:
            del raw[at:]
        elif how == 1:
            del raw[at : at + rng.randrange(1, 40)]
        elif how == 2:
            raw[at : at + 1] = rng.randbytes(rng.randrange(3))
        else:
            raw[at:at] = rng.choice(
                (b"{", b"[", b'"', b"(", b")", b"\n", b":", b"\xff", b"&a ", b"- ")
            )
    return bytes(raw)


def _changed(node: Any, rng: random.Random) -> Any:
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    if not keys or rng.random() < 0.1:
        return copy.deepcopy(rng.choice(ODD))
    key = rng.choice(keys)
    if isinstance(node[key], dict | list) and rng.random() < 0.8:
        node[key] = _changed(node[key], rng)
    elif rng.random() < 0.2:
        del node[key]
    else:
        node[key] = copy.deepcopy(rng.choice(ODD))
    return node


def _in_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    def boundary(content: bytes, folder: Path) -> object:
        (folder / name).write_bytes(content)
        return read(folder)

    return boundary


def _episode(content: bytes, folder: Path) -> object:
    """Under a right checksum, so that what is in the line is read."""
    body = content.strip().removesuffix(b"}").replace(b"\n", b" ")
    line = b'%b,"crc32":"%08x"}\n' % (body, zlib.crc32(body))
    (folder / EPISODES).write_bytes(line)
    run = StoredRun(folder)
    for one in run.records:
        assert render(episode_page(SITE, "run", one, analyse_episode(one, run.manifest)))
        assert render(prompts_page(SITE, "run", one, one.steps))
    for name in ("csv", "eval", "atif", "hf"):
        assert export_run(run, name, folder / "exported").exists()
    return text_report(run.report, 80)


def _packed(content: bytes, folder: Path) -> object:
    """Packed, whatever it is, under a right checksum."""
    (folder / EPISODES).write_bytes(seal(content.strip() or b"{}", packed=True))
    return text_report(StoredRun(folder, verify=True).report, 80)


def _index(content: bytes, folder: Path) -> object:
    """As an entry that was sealed like ours; a list of runs and a report believe it or not."""
    StoredRun(folder).save_figures(stamp_figures(folder))
    head = (folder / INDEX).read_bytes().splitlines(keepends=True)[0]
    line = content.strip().replace(b"\n", b" ") or b"{}"
    (folder / INDEX).write_bytes(head + seal(line))
    Library(folder).summaries()
    return text_report(StoredRun(folder).report, 80)


def _text(read: Callable[[str], object]) -> Callable[[bytes, Path], object]:
    return lambda content, folder: read(content.decode("utf-8", "surrogateescape"))


def _json(read: Callable[[Any], object]) -> Callable[[bytes, Path], object]:
    def boundary(content: bytes, folder: Path) -> object:
        try:
            parsed = json.loads(content)
        except (ValueError, RecursionError):
            return None  # refused by whoever took it off the line
        return read(parsed)

    return boundary


def _card(content: Any) -> object:
    with contextlib.suppress(ValueError):  # by which it says what is wrong with the card
        url = "http://127.0.0.1:9000/"
        card = restrict_card(make_reachable(read_card(content), url), url, AllowList(["*"]))
        assert {origin_of(one.url) for one in card.interfaces} == {origin_of(url)}
        return card
    return None


def _address(text: str) -> object:
    """One that may be called has nothing in it that others read differently."""
    is_allowed = AllowList(["*"]).allows(text)
    assert not is_allowed or text.isprintable()
    return origin_of(without_password(text).url) if is_allowed else find_fault(text)


def _turn(content: Any) -> object:
    with contextlib.suppress(AgentError):
        reply = PendingReply()
        add_result(reply, read_result(content), "m1")
        return read_usage(reply.metadata)
    return None


def _model(client: Any) -> Callable[[bytes, Path], object]:
    def boundary(content: bytes, folder: Path) -> object:
        with contextlib.suppress(Transient, ModelFailure):
            reply = client._read(HttpAnswer(200, {}, content))
            return reply.text.encode("utf-8", "surrogatepass")
        return None

    return boundary


def _refusal(content: bytes, folder: Path) -> object:
    """As the header that says when to come back, and as the body of an error."""
    said = content.decode("latin-1")
    for status in (302, 400, 413, 429, 503):
        headers = {"Retry-After": said, "retry-after-ms": said, "Location": said}
        for head in (headers, {"Retry-After": said}, {}):
            with pytest.raises((Transient, ModelFailure)) as failure:
                CLIENT._read(HttpAnswer(status, head, content))
            if isinstance(failure.value, Transient):
                failure.value.doubt(CLIENT.settings.deadline_s)  # as in every call
                assert 0.0 <= (failure.value.retry_after or 0.0) <= CLIENT.settings.deadline_s
    return None


def _posted(server: str, path: str, sample: Any) -> tuple[bytes, Callable[[bytes, Path], object]]:
    """As the body of a request, whose answer is JSON as everybody reads it."""

    @cache
    def client() -> TestClient:
        return TestClient(SERVERS[server]())

    def boundary(content: bytes, folder: Path) -> object:
        for opening, body in OPENINGS.get(server, {}).items():
            client().post(opening, json=body)  # where the last request has ended the game
        answer = client().post(path, content=content)
        assert answer.status_code == 200 or content != _bytes(sample), answer.text
        return _read_strictly(answer.content or b"null")

    return _bytes(sample), boundary


def _frame(content: bytes, folder: Path) -> object:
    """As a message over OpenEnv's WebSocket."""
    wire = WireSession(_homes(), max_steps=50, oracle=True)
    wire.reset({"index": 0})
    return _read_strictly(json.dumps(wire.answer(content.decode("utf-8", "surrogateescape"))))


def _homes() -> Arena:
    return shared_arena("alfworld", {"data_path": "builtin"})


def _read_strictly(answer: str | bytes) -> object:
    def refuse(constant: str) -> None:
        raise AssertionError(f"the answer has {constant}, which is not JSON")

    return json.loads(answer, parse_constant=refuse)


def _report(folder: Path) -> object:
    return text_report(StoredRun(folder).report, 80)


def _problem(folder: Path) -> object:
    return AlfWorldEngine.from_text(read_game(folder), None)


def _shop(folder: Path) -> object:
    """A catalogue, and a purchase of its first goal of each kind."""
    catalogue = open_catalogue(folder, cache=folder / "cache")
    for kind in ("synthetic", "human"):
        with contextlib.suppress(AgentQuestError):
            game = WebshopGame(Shop(catalogue, goals=kind), 0)
            game.reset()
            plan = game.plan()
            for command in plan:
                game.step(command)
            assert game.done or max(map(len, plan)) > LONGEST_ACTION, "no click is as long"
    return catalogue


def _protocol(folder: Path) -> object:
    file = folder / "mine.yaml"
    assert read_protocol(file)
    return load_config(None, [f"protocol={file}", "llm.model=m"])


def _bytes(content: Any) -> bytes:
    return json.dumps(content).encode()


def _events(contents: list[Any]) -> bytes:
    return b"".join(b"data: " + _bytes(content) + b"\n\n" for content in contents)


def _stream(content: Any) -> bytes:
    return _events([content]) + b"data: [DONE]\n\n"


SERVERS: dict[str, Callable[[], Starlette]] = {
    "AgentBench": lambda: AgentBenchWorker(_homes(), WorkerTerms("x", 10**6, rounds=10**6)).app(),
    "AgentGym": lambda: agentgym_app("alfworld", {"data_path": "builtin"}, 9, 3600.0, 10**6),
    "AgentGym's shop": lambda: agentgym_app("webshop", {"data_path": "builtin"}, 9, 3600.0, 50),
    "OpenEnv": lambda: OpenEnvServer(_homes(), Terms(oracle=True)).app(),
}
PROMPTED = record(
    "a",
    messages=[Message(role="system", content="play"), Message(role="user", content="look")],
    steps=[
        step(
            1,
            prompt=[0, 1],
            tool_calls=[ToolCall(id="1", name="act", arguments='{"command": "look"}')],
            calls=[Call(model="m", kind="complete", cost=0.1)],
        )
    ],
    details={"a": [1]},
)
CLIENT = OpenAIChat(OpenAISettings(model="m"))
BOUNDARIES: dict[str, tuple[bytes, Callable[[bytes, Path], object]]] = {
    "configuration": (
        load_config(None, ["llm.model=m"])[0].to_yaml().encode(),
        _in_file("run.yaml", lambda folder: load_config(folder / "run.yaml", [])),
    ),
    "override": (b"llm.model=m", _text(lambda text: load_config(None, [text]))),
    "manifest": (manifest().model_dump_json().encode(), _in_file(MANIFEST, _report)),
    "episode": (PROMPTED.model_dump_json().encode(), _episode),
    "episodes file": (record("a").model_dump_json().encode(), _in_file(EPISODES, _report)),
    "packed episode": (PROMPTED.model_dump_json().encode(), _packed),
    "index": (
        _bytes({"at": 0, "next": 9, "crc": 1, "goal": "", "progress": "", "setting": "[]"}),
        _index,
    ),
    "metrics file": (MeasuredMetrics().model_dump_json().encode(), _in_file(METRICS, _report)),
    "live": (
        LiveEvent(event="start", key="a#0", task_id="a", trial=0).model_dump_json().encode(),
        _in_file(LIVE, read_live),
    ),
    "game file": (
        _bytes({"pddl_domain": "(define)", "grammar": "x", "pddl_problem": HOME.problem}),
        _in_file("game.tw-pddl", lambda folder: read_game(folder / "game.tw-pddl")),
    ),
    "trajectory": (
        _bytes(HOME.traj_data),
        _in_file("traj_data.json", lambda folder: read_game(folder)),
    ),
    "problem": (HOME.problem.encode(), _in_file("initial_state.pddl", _problem)),
    "name of a game": (b"builtin:x/y/z", _text(lambda name: open_game(name, None))),
    "products": (_bytes([PRODUCT]), _in_file("items_shuffle_1000.json", _shop)),
    "instructions": (_bytes(INSTRUCTIONS), _in_file("items_ins_v2_1000.json", _shop)),
    "people's instructions": (_bytes(PEOPLES), _in_file("items_human_ins.json", _shop)),
    "protocol": (PROTOCOL, _in_file("mine.yaml", _protocol)),
    "A2A text": (b"TASK: x\nAVAILABLE ACTIONS:\n1. look\n", _text(read_message)),
    "A2A answer": (
        b"Thought: x\nAction: look",
        _text(lambda text: parse_action(text, ("look", "go to shelf 1"))),
    ),
    "A2A request": (_bytes(REQUEST), _text(parse_request)),
    "A2A tagged request": (TAGGED, _text(parse_request)),
    "A2A card": (_bytes(CARD), _json(_card)),
    "A2A address": (b"http://user:pw@localhost:9002/agent?x=1", _text(_address)),
    "A2A response": (_bytes(TALK), _json(_turn)),
    "OpenAI": (_bytes(CHAT), _model(CLIENT)),
    "OpenAI stream": (_stream(CHAT), _model(OpenAIChat(OpenAISettings(model="m", stream=True)))),
    "Responses": (
        _bytes(RESPONSE),
        _model(OpenAIResponses(ResponsesSettings(model="m", api_key_env=None))),
    ),
    "Anthropic": (
        _bytes(ANTHROPIC),
        _model(AnthropicMessages(AnthropicSettings(model="m", api_key_env=None))),
    ),
    "Gemini": (_bytes(GEMINI), _model(GeminiModel(GeminiSettings(model="m", api_key_env=None)))),
    "Responses stream": (
        _stream({"type": "response.completed", "response": RESPONSE}),
        _model(OpenAIResponses(ResponsesSettings(model="m", api_key_env=None, stream=True))),
    ),
    "Anthropic stream": (
        _events(MESSAGE_EVENTS),
        _model(AnthropicMessages(AnthropicSettings(model="m", api_key_env=None, stream=True))),
    ),
    "Gemini stream": (
        _stream(GEMINI),
        _model(GeminiModel(GeminiSettings(model="m", api_key_env=None, stream=True))),
    ),
    "time to come back": (b"Fri, 31 Dec 2027 23:59:59 GMT", _refusal),
    "refusal": (_bytes({"error": {"code": "x", "message": "try again in 1m2.5s"}}), _refusal),
    "reported usage": (_bytes(USAGE), _json(read_call)),
    **{f"{server} {path}": _posted(server, path, body) for server, path, body in REQUESTS},
    **{f"OpenEnv message {frame['type']}": (_bytes(frame), _frame) for frame in FRAMES},
}


# The rules of a real game file are not ours to keep here.
REFUSED = {"game file", "name of a game"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run, a game's trajectory and a shop's files beside whatever is damaged."""
    saved(tmp_path, [record("a")])
    (tmp_path / "initial_state.pddl").write_text(HOME.problem)
    (tmp_path / "traj_data.json").write_bytes(_bytes(HOME.traj_data))
    (tmp_path / "items_shuffle_1000.json").write_bytes(_bytes([PRODUCT]))
    (tmp_path / "items_ins_v2_1000.json").write_bytes(_bytes(INSTRUCTIONS))
    (tmp_path / "items_human_ins.json").write_bytes(_bytes(PEOPLES))
    return tmp_path


@pytest.mark.parametrize("name", BOUNDARIES)
def test_what_comes_in_is_understood_or_one_clear_error(name: str, folder: Path) -> None:
    sample, boundary = BOUNDARIES[name]
    rng = random.Random(name if "AGENTQUEST_FUZZ" not in os.environ else None)
    if name not in REFUSED:
        boundary(sample, folder)  # or the fuzzing would be of nothing
    for content in [*HARM, *(damaged(sample, rng) for _ in range(TRIES))]:
        shutil.rmtree(folder / "cache", ignore_errors=True)
        (folder / "index.jsonl").unlink(missing_ok=True)
        try:
            with contextlib.suppress(AgentQuestError):
                boundary(content, folder)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} for {content[:300]!r}") from error
