"""What passes between an agent and an ALFWorld game."""

from dataclasses import dataclass
from functools import cached_property

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


@dataclass(frozen=True)
class AlfWorldObservation(Observation):
    """The game's text; while the game goes on, followed by what may be answered."""

    @classmethod
    def of(cls, text: str, game: AlfWorldEngine, valid: bool = True) -> "AlfWorldObservation":
        """What a player sees of the game now."""
        won, output = game.won, text
        if not won:
            commands = game.admissible_text
            output = f"{text}\nAdmissible commands:\n{commands}\n{RESPONSE_FORMAT}"
        return cls(output, won, not won, text, tuple(game.admissible), valid)
