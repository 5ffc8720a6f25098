"""A model as agents of a run ask it."""

import copy
import pickle
from typing import Any

from agentquest.llms.types import Reply
from agentquest.running.asking import watch_model


class OneWord:
    name = "one word"

    async def complete(self, *given: Any, **more: Any) -> Reply:
        return Reply(text="look", model=self.name)


def test_a_watched_model_can_be_copied_and_sent_to_other_processes() -> None:
    watched: Any = watch_model(OneWord())  # type: ignore[arg-type]
    for twin in (copy.copy(watched), copy.deepcopy(watched), pickle.loads(pickle.dumps(watched))):
        assert twin.name == "one word"
    assert not hasattr(watched, "nothing")
