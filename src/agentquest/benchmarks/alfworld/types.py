"""What passes between an agent and an ALFWorld game."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.oracle.planner import Plan
from agentquest.lib import Action, Observation, State
from agentquest.lib.types import internal

RESPONSE_FORMAT = "Your response should be in format: 'Action: <action_command>'"


@dataclass(frozen=True)
class AlfWorldAction(Action):
    """A command, such as `go to fridge 1`."""


@dataclass(frozen=True)
class AlfWorldState(State):
    """The last valid command ('' after reset), and the game as it stood then.

    The oracle's plan is worked out only when somebody asks for it, so that
    training loops do not pay for a metric they do not read.
    """

    value: str = ""
    game: AlfWorldEngine | None = internal(None)

    @cached_property
    def plan(self) -> Plan:
        """The shortest way to win from here; worked out when it is first read."""
        return Plan((), True) if self.game is None else self.game.plan()

    @property
    def policy_commands(self) -> list[str]:
        """The oracle's commands from here; empty when the game is won, or cannot be."""
        return list(self.plan.commands)


class _ReadOnce:
    """Works a field out when it is first read; `cached_property` would take a lock for it."""

    def __init__(self, work_out: Callable[[Any], Any]) -> None:
        self._work_out = work_out
        self._name = work_out.__name__

    def __get__(self, instance: object, owner: type) -> Any:
        value = instance.__dict__[self._name] = self._work_out(instance)
        return value


@dataclass(frozen=True, init=False)
class AlfWorldObservation(Observation):
    """The game's text; while the game goes on, followed by what may be answered.

    `admissible` and `output` are put together when they are first read, from the
    game as it was then: whoever does not read them does not pay for them.
    """

    def __init__(
        self,
        output: str | None = None,
        success: bool = False,
        can_proceed: bool = True,
        text: str = "",
        admissible: tuple[str, ...] | None = None,
        game: AlfWorldEngine | None = None,
    ) -> None:
        # Written past the frozen fields' guard, which would cost a call each.
        fields = self.__dict__
        fields["success"] = success
        fields["can_proceed"] = can_proceed
        fields["text"] = text
        fields["_game"] = game
        if admissible is not None:
            fields["admissible"] = admissible
        if output is not None:
            fields["output"] = output

    @classmethod
    def of(cls, text: str, game: AlfWorldEngine) -> "AlfWorldObservation":
        """What is seen of a game that nobody plays on with (a copy, if need be)."""
        won = game.won
        return cls(None, won, not won, text, None, game)

    @_ReadOnce  # type: ignore[misc]
    def admissible(self) -> tuple[str, ...]:
        """The commands that the game would carry out at that moment; sorted."""
        game: AlfWorldEngine | None = self.__dict__["_game"]
        return () if game is None else tuple(game.admissible)

    @_ReadOnce  # type: ignore[misc]
    def output(self) -> str:
        """The text that a player is shown, with the admissible commands while the game goes on."""
        if not self.can_proceed:
            return self.text
        game: AlfWorldEngine | None = self.__dict__["_game"]
        commands = str(list(self.admissible)) if game is None else game.admissible_text
        return f"{self.text}\nAdmissible commands:\n{commands}\n{RESPONSE_FORMAT}"
