"""Where episodes are played: in this event loop, or in other processes.

An executor is a class with `Settings` and `run`. To add one, write a file here
and name it in the registry.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from agentquest import registry
from agentquest.lib.settings import validate_settings
from agentquest.running.events import RunEvents
from agentquest.running.factory import Resources
from agentquest.running.spec import EpisodeSpec


class Executor(Protocol):
    """Plays many episodes; where, is its own business.

    One that depends on something out there may also have `check()`, which raises UserError if
    that is missing; it is called before a run directory is made.
    """

    async def run(
        self,
        specs: Sequence[EpisodeSpec],
        resources: Resources,
        events: RunEvents,
        parallel: int,
        stop: asyncio.Event,
    ) -> None:
        """Play the specs, at most `parallel` at once, until they are done or `stop` is set.

        Every episode is reported to `events`; see `agentquest.running.play.play_one`.
        """
        ...


def make_executor(name: str, settings: Mapping[str, Any]) -> Executor:
    """The executor of that name; raises ConfigError for settings that it does not have."""
    found = registry.load("executor", name)
    made: Executor = found(validate_settings(found.Settings, settings, "executor"))
    return made
