"""White agents: contexts kept apart and bounded, the LLM agent, the documented example."""

import asyncio
import sys

import pytest
from a2a.server.context import ServerCallContext
from agent_processes import ROOT, agentquest, eventually, port_is_held, running

from agentquest.a2a import limits, new_agent_text_message
from agentquest.a2a.client.connection import find_agent
from agentquest.a2a.llm_white import (
    ACT,
    THINK,
    LLMWhiteAgent,
    LLMWhiteSettings,
    find_service,
    read_model_settings,
    wants_reasoning,
)
from agentquest.a2a.messages import first_message, next_message, read_message
from agentquest.a2a.serving import TaskOwner
from agentquest.a2a.white import WhiteExecutor, WhiteSource, make_source
from agentquest.errors import ConfigError, UserError
from agentquest.http.sockets import free_port
from agentquest.lib import Agent, Answer, Briefing, InformedAgent, Observation
from agentquest.llms.types import Reply
from agentquest.running.factory import make_benchmark
from chat_server import ChatServer


class Counting(Agent):
    """Says how many turns it has had; slow enough for two turns to meet."""

    alive = 0

    def __init__(self):
        type(self).alive += 1
        self.turns = 0

    async def act(self, observation):
        before = self.turns
        await asyncio.sleep(0.01)
        self.turns = before + 1
        return Answer(action=f"turn {self.turns}")

    async def close(self):
        type(self).alive -= 1


COUNTING = WhiteSource("counting", Counting)


@pytest.fixture
def counting(monkeypatch):
    Counting.alive = 0
    monkeypatch.setattr(limits, "MAX_CONTEXTS", 3)
    return WhiteExecutor(COUNTING)


class Request:
    def __init__(self, context_id, text):
        self.context_id = context_id
        self._text = text
        self.call_context = ServerCallContext(user=TaskOwner("somebody"))

    def get_user_input(self):
        return self._text


class Queue(list):
    async def enqueue_event(self, event):
        self.append(event.parts[0].text)


OPENING = first_message(Briefing(""), "A room.", ["look"])
LATER = next_message("look", "A room.", ["look"])


async def turn(executor, context_id, text=LATER):
    queue = Queue()
    await executor.execute(Request(context_id, text), queue)
    return queue


async def test_contexts_are_kept_apart(counting):
    assert await turn(counting, "a", OPENING) == ["turn 1"]
    assert await turn(counting, "b", OPENING) == ["turn 1"]
    assert await turn(counting, "a") == ["turn 2"]


async def test_turns_of_one_context_wait_for_each_other(counting):
    said = await asyncio.gather(*(turn(counting, "a") for _ in range(5)))
    assert sorted(text for (text,) in said) == [f"turn {n}" for n in range(1, 6)]


async def test_a_first_message_begins_a_new_game(counting):
    await turn(counting, "a", OPENING)
    await turn(counting, "a")
    assert await turn(counting, "a", OPENING) == ["turn 1"]


async def test_contexts_are_bounded_and_let_go(counting):
    async with counting.serving():
        for number in range(10):
            await turn(counting, str(number), OPENING)
        assert Counting.alive == 3
    assert Counting.alive == 0


async def test_idle_contexts_are_forgotten(monkeypatch):
    Counting.alive = 0
    monkeypatch.setattr(limits, "CONTEXT_IDLE_S", 0.001)
    executor = WhiteExecutor(COUNTING)
    await turn(executor, "a", OPENING)
    await asyncio.sleep(0.01)
    await turn(executor, "b", OPENING)
    assert Counting.alive == 1


async def test_a_new_game_ends_the_agent_of_the_last(counting):
    await turn(counting, "a", OPENING)
    await turn(counting, "a", OPENING)
    assert Counting.alive == 1


class Looking(InformedAgent):
    async def act(self, observation):
        return Answer(action=self.oracle.plan()[0])


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (f"{__name__}:Looking", "needs the plan"),
        ("mcp", "whoever calls `agentquest mcp`"),
        ("agentquest.adapters.mcp_callers:CallerAgent", "whoever calls `agentquest mcp`"),
    ],
)
def test_an_agent_that_cannot_play_over_a2a_is_refused(kind, why):
    with pytest.raises(UserError, match=why):
        make_source(kind, make_benchmark("alfworld", {"data_path": "builtin"}))


class TestTheModel:
    def test_what_the_variables_say(self):
        config = read_model_settings(
            {
                "OPENAI_API_KEY": "k",
                "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
                "WHITE_AGENT_MODEL": "m",
                "WHITE_AGENT_TEMPERATURE": "0.5",
            }
        )
        assert (config.model, config.temperature) == ("m", 0.5)
        assert config.base_url == "http://127.0.0.1:1/v1"
        assert config.api_key_env == "OPENAI_API_KEY"

    def test_the_documented_defaults(self):
        config = read_model_settings({"OPENAI_API_KEY": "k"})
        assert (config.model, config.temperature) == ("gpt-4o-mini", 0.0)
        assert config.base_url == "https://api.openai.com/v1"
        assert wants_reasoning({}) is True

    def test_a_litellm_proxy(self):
        config = read_model_settings(
            {"LITELLM_PROXY_API_KEY": "k", "LITELLM_PROXY_API_BASE": "http://p/v1"}
        )
        assert config.base_url == "http://p/v1"
        assert find_service({"LITELLM_PROXY_API_KEY": "k"})

    @pytest.mark.parametrize(
        ("variables", "problem"),
        [
            ({}, "OPENAI_API_KEY is not set"),
            ({"OPENAI_API_KEY": "  "}, "OPENAI_API_KEY is not set"),
            ({"OPENAI_API_KEY": "k", "WHITE_AGENT_TEMPERATURE": "warm"}, "WHITE_AGENT_TEMPERATURE"),
            ({"OPENAI_API_KEY": "k", "WHITE_AGENT_TEMPERATURE": "9"}, "WHITE_AGENT_TEMPERATURE"),
            ({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "nowhere"}, "OPENAI_BASE_URL"),
        ],
    )
    def test_wrong_variables_are_named(self, variables, problem):
        with pytest.raises(ConfigError, match=problem):
            read_model_settings(variables)

    def test_reasoning_is_true_or_false(self):
        assert wants_reasoning({"WHITE_AGENT_REASONING": "false"}) is False
        with pytest.raises(ConfigError, match="WHITE_AGENT_REASONING"):
            wants_reasoning({"WHITE_AGENT_REASONING": "perhaps"})


class Echo:
    price = None

    async def complete(self, messages, **more):
        self.shown = messages
        return Reply(text="look " * 100, model="echo")


async def test_the_llm_agents_memory_is_bounded():
    model = Echo()
    agent = LLMWhiteAgent(LLMWhiteSettings(), model)
    for number in range(200):
        text = f"turn {number} " + "x" * (0 if number < 100 else 30_000)
        await agent.act(Observation(text, False, True, text=text))
    assert "turn 0 " in model.shown[1].content
    assert "turn 199 " in model.shown[-1].content
    assert len(model.shown) <= 62
    assert sum(len(message.content) for message in model.shown) < 600_000


@pytest.mark.parametrize("reasoning", ["true", "false"])
async def test_the_llm_agent_over_a2a(reasoning):
    def answer(messages):
        return "I think.\nAction: look" if reasoning == "true" else "look"

    async with ChatServer(answer, api_key="secret-key") as server:
        variables = {
            "OPENAI_API_KEY": "secret-key",
            "OPENAI_BASE_URL": server.url,
            "WHITE_AGENT_MODEL": "some-model",
            "WHITE_AGENT_REASONING": reasoning,
        }
        with agentquest("white", "--type", "llm", "--port", "0", **variables) as process:
            assert not any("secret-key" in line for line in process.lines)
            line = (await find_agent(process.url, 10)).connect()
            first = await line.send(
                first_message(Briefing(""), "A room.", ["look", "go to desk 1"])
            )
            await line.send(next_message("look", "Still a room.", ["look"]))
            await line.close()
    assert first.text.endswith("look")
    opening, later = (request["messages"] for request in server.requests)
    assert opening[0] == {"role": "system", "content": THINK if reasoning == "true" else ACT}
    assert [message["role"] for message in later] == ["system", "user", "assistant", "user"]
    assert "A room." in later[1]["content"]
    assert "Still a room." in later[3]["content"]
    assert server.requests[0]["model"] == "some-model"


def test_the_documented_example_is_assessed(green):
    port = free_port()
    command = [sys.executable, ROOT / "examples" / "custom_white_agent.py", "--port", port]
    with running(command) as process:
        assert eventually(lambda: port_is_held(port))
        data = green.assess(process.url, max_steps=5).data
    assert data["agent"] == "My custom agent"
    assert (data["errors"], data["invalid_rate"]) == (0, 0)


def test_a_reply_as_the_old_sdk_made_it():
    message = new_agent_text_message("look", context_id="c", task_id="t")
    assert (message.parts[0].text, message.context_id, message.task_id) == ("look", "c", "t")
    assert message.message_id


def test_our_own_messages_are_what_white_agents_read():
    assert read_message(OPENING).first
    assert not read_message(LATER).first
