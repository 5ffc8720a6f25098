"""A model as agents of a run ask it: what goes wrong there is never the agent's failure."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

from agentquest.errors import AgentQuestError, ModelError
from agentquest.llms.types import ChatModel, Reply
from agentquest.running.crashes import describe_crash


@dataclass
class ModelCalls:
    """How many calls of an episode are waiting for their reply."""

    waiting: int = 0


_calls: ContextVar[ModelCalls] = ContextVar("calls")


def count_calls() -> ModelCalls:
    """Count the calls of this task, and of the tasks that it starts, from now on."""
    calls = ModelCalls()
    _calls.set(calls)
    return calls


class _WatchedModel:
    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what copy and pickle look for, before there is a `_model`
            raise AttributeError(name)
        return getattr(self._model, name)

    async def complete(self, *given: Any, **more: Any) -> Reply:
        calls = _calls.get(None) or ModelCalls()
        calls.waiting += 1
        try:
            reply: object = await self._model.complete(*given, **more)
        except AgentQuestError:
            raise
        except (Exception, SystemExit) as error:  # a model of the user's own may raise anything
            raise ModelError(describe_crash(error).message) from error
        finally:
            calls.waiting -= 1
        if not isinstance(reply, Reply):
            raise ModelError(f"complete() returned a {type(reply).__name__} instead of a Reply")
        return reply


def watch_model(model: ChatModel) -> ChatModel:
    """The same model; all its failures become a `ModelError`, and its open calls are counted."""
    return cast(ChatModel, _WatchedModel(model))
