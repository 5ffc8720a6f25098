"""A model of the user's own that breaks, wherever it is called: one line that names its class and
the place, and never a score."""

import copy
import logging
import pickle
import re
from typing import Any

import pytest

from agentquest.agents.chat_history import record_call
from agentquest.errors import (
    AgentQuestError,
    ConfigError,
    DataError,
    ModelError,
    NetworkError,
    ParseError,
)
from agentquest.lib import Agent, Answer, Observation
from agentquest.llms.config import ModelSettings
from agentquest.llms.prices import Price
from agentquest.llms.types import ChatModel, Reply
from agentquest.records.messages import Usage
from agentquest.running.asking import watch_model
from agentquest.running.factory import Resources
from agentquest.running.spec import Choice, RunContext

PLACE = r"KeyError: '{}' at test_asking\.py:\d+"
RATE: Any = "1"


class Breaking(ChatModel):
    """Raises where its own name, of the configuration, says."""

    Settings = ModelSettings

    def __init__(self, settings: ModelSettings) -> None:
        self._where = settings.model
        self._break("init")

    def _break(self, place: str) -> None:
        if place == self._where:
            raise KeyError(place)

    @property
    def price(self) -> Price:
        self._break("price")
        return Price(RATE, 1.0) if self._where == "rate" else Price(1.0, 1.0)

    def status(self) -> Any:
        self._break("status")
        return "well"

    async def preflight(self, **given: Any) -> Any:
        self._break("preflight")

    async def complete(self, *given: Any, **more: Any) -> Reply:
        self._break("complete")
        return Reply(text="look", usage=Usage(prompt_tokens=1, completion_tokens=1))

    async def close(self) -> None:
        self._break("close")


class Shares(Agent):
    """An agent's own code, called for all of its episodes."""

    def __init__(self, shared: object) -> None: ...

    @classmethod
    async def open_shared(cls, settings: Any) -> Any:
        raise KeyError("open")

    async def act(self, observation: Observation) -> Answer:
        return Answer(action="look")


def resources(where: str, agent: str = "react") -> Resources:
    model = Choice(f"{__name__}:Breaking", {"model": where})
    return Resources(RunContext("r", "0", Choice("alfworld"), agent=Choice(agent), model=model))


@pytest.mark.parametrize(
    ("where", "kind", "what"),
    [
        ("init", ConfigError, rf"^model '{__name__}:Breaking' cannot be made: {PLACE}$"),
        ("preflight", ModelError, rf"^Breaking\.preflight: {PLACE}$"),
        ("complete", ModelError, rf"^Breaking\.complete: {PLACE}$"),
    ],
)
async def test_a_model_that_breaks_is_named_with_the_place(
    where: str, kind: type[AgentQuestError], what: str
) -> None:
    async def ask() -> None:
        model = resources(where).model()
        assert await model.preflight() == ()
        await model.complete([])

    with pytest.raises(kind, match=what.format(where)):
        await ask()


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("price", PLACE.format("price")),
        ("rate", "TypeError: .*"),
        ("status", PLACE.format("status")),
        ("close", PLACE.format("close")),
        ("none", "AttributeError: 'str' object has no attribute 'line'"),
    ],
)
async def test_what_decides_no_score_is_noted_once(
    where: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    shared = resources(where)
    model = shared.model()
    with caplog.at_level(logging.WARNING):
        calls = [record_call(model, await model.complete([])) for _ in range(2)]
        if where in ("status", "none"):
            assert [shared.trouble(), shared.trouble()] == ["", ""]
        await shared.close()
        await shared.close()
    assert len({call.cost for call in calls}) == 1
    assert (calls[0].cost is None) == (where in ("price", "rate"))
    (line,) = caplog.messages
    assert re.search(rf"Breaking\.\w+: {said}$", line), line


def test_a_watched_model_can_be_copied_and_sent_to_other_processes() -> None:
    watched: Any = resources("none").model()
    for twin in (copy.copy(watched), copy.deepcopy(watched), pickle.loads(pickle.dumps(watched))):
        assert twin.Settings is ModelSettings
    assert not hasattr(watched, "nothing")


@pytest.mark.parametrize("error", [DataError("no file"), ParseError("odd"), NetworkError("gone")])
async def test_no_error_of_ours_that_a_model_raises_is_the_agent_s(error: AgentQuestError) -> None:
    class Raising(Breaking):
        async def complete(self, *given: Any, **more: Any) -> Reply:
            raise error

    model = watch_model(lambda: Raising(ModelSettings(model="none")), "raising")
    with pytest.raises((ModelError, NetworkError), match=rf"^(Raising\.complete: )?{error}$"):
        await model.complete([])


async def test_what_an_agent_s_class_raises_is_one_line() -> None:
    with pytest.raises(ConfigError, match=rf"^Shares\.open_shared: {PLACE.format('open')}$"):
        await resources("none", f"{__name__}:Shares").open()
