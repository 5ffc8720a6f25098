"""A model as agents of a run ask it: what goes wrong there is never the agent's failure."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

from agentquest.errors import AgentQuestError, ConfigError, ModelError, NetworkError
from agentquest.llms.prices import Price
from agentquest.llms.status import Status
from agentquest.llms.types import ChatModel, Reply
from agentquest.records.messages import Usage
from agentquest.running.crashes import name_crash, note_crash


@dataclass
class ModelCalls:
    """How many calls of an episode are waiting for their reply."""

    waiting: int = 0


_NOTHING = Usage(prompt_tokens=0, completion_tokens=0)
_calls: ContextVar[ModelCalls] = ContextVar("calls")


def count_calls() -> ModelCalls:
    """Count the calls of this task, and of the tasks that it starts, from now on."""
    calls = ModelCalls()
    _calls.set(calls)
    return calls


class _WatchedModel:
    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._class = type(model).__name__
        self._noted: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what copy and pickle look for, before there is a `_model`
            raise AttributeError(name)
        return getattr(self._model, name)

    @property
    def price(self) -> Price | None:
        with self._noting("price", "the cost of its calls is not known: "):
            price = self._model.price
            if price is not None:
                price.of(_NOTHING)  # raises if it is none
            return price
        return None

    def status(self) -> Status:
        with self._noting("status"):
            status = self._model.status()
            _ = status.line  # raises if it is none
            return status
        return Status()

    async def preflight(self, **given: Any) -> tuple[str, ...]:
        with name_crash(f"{self._class}.preflight", ModelError):
            return tuple(map(str, await self._model.preflight(**given) or ()))

    async def complete(self, *given: Any, **more: Any) -> Reply:
        calls = _calls.get(None) or ModelCalls()
        calls.waiting += 1
        try:
            with name_crash(f"{self._class}.complete", ModelError):
                reply: object = await self._model.complete(*given, **more)
        except (ModelError, NetworkError):
            raise
        except AgentQuestError as error:  # of ours, but by a model of the user's own
            raise ModelError(f"{self._class}.complete: {error}") from error
        finally:
            calls.waiting -= 1
        if not isinstance(reply, Reply):
            kind = type(reply).__name__
            raise ModelError(f"{self._class}.complete returned a {kind} instead of a Reply")
        return reply

    async def close(self) -> None:
        with self._noting("close"):
            await self._model.close()

    def _noting(self, name: str, before: str = "") -> AbstractContextManager[None]:
        return note_crash(f"{before}{self._class}.{name}", self._noted)


def watch_model(make: Callable[[], ChatModel], name: str) -> ChatModel:
    """The model of this name. All its failures become a `ModelError`, its open calls are counted,
    and without its price the cost is not known."""
    with name_crash(f"model {name!r} cannot be made", ConfigError):
        return cast(ChatModel, _WatchedModel(make()))
