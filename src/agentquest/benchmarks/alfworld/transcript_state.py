"""What a recorded episode tells of the game, to somebody who has only read it.

The finite state machines (milestone_machines.py) need to know what is in the
agent's hand, what was done to which object and what lies where. All of it is
read from the goal sentence, the actions and the observations: an action counts
unless it was answered with "Nothing happens.", and what a receptacle holds is
taken from the texts that list it. The engine is not asked.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentquest.benchmarks.alfworld.engine.narrator import NOTHING_HAPPENS
from agentquest.benchmarks.alfworld.task_types import StatedGoal, read_goal_sentence
from agentquest.errors import UserError
from agentquest.lib import Interaction, Observation

_NAME = r"(\w+ \d+)"
_TAKE = re.compile(rf"take {_NAME} from {_NAME}")
_PLACE = re.compile(rf"(?:put|move) {_NAME} (?:in/on|to) {_NAME}")
_TREAT = re.compile(rf"(clean|heat|cool|slice) {_NAME} with {_NAME}")
_USE = re.compile(rf"use {_NAME}")
_GO = re.compile(rf"go to {_NAME}")
_ARRIVAL = re.compile(r"You arrive at (\w+ \d+)\.")
_CONTENTS = re.compile(rf"(?:On the {_NAME}|The {_NAME} is open\. In it), you see ([^.]+)\.")
_THING = re.compile(r"\ba (\w+ \d+)")


def read_quest(goal: str) -> StatedGoal:
    """What a goal sentence states; UserError when it is none of the six tasks."""
    quest = read_goal_sentence(goal)
    if quest is None:
        raise UserError(f"the goal {goal[:120]!r} states none of ALFWorld's six tasks")
    return quest


def class_of(name: str) -> str:
    """`potato 2` is a `potato`."""
    return name.rpartition(" ")[0]


@dataclass
class Knowledge:
    """What is known after some steps. Names are those of the game: `potato 2`, `fridge 1`."""

    held: str = ""
    place: str = ""
    inside: dict[str, set[str]] = field(default_factory=dict)
    treated: dict[str, set[str]] = field(
        default_factory=lambda: {"clean": set(), "heat": set(), "cool": set(), "slice": set()}
    )
    lit: dict[str, set[str]] = field(default_factory=dict)
    won: bool = False

    def update(self, step: Interaction) -> None:
        """Learn from one step; one that the game did not carry out teaches nothing."""
        text = _words_of(step.observation)
        self.won = step.observation.success
        if text.startswith(NOTHING_HAPPENS):
            return
        self._learn_action(step.action.value.strip(), text)
        if found := _CONTENTS.search(text):
            self.inside[found[1] or found[2]] = set(_THING.findall(found[3]))

    def _learn_action(self, action: str, text: str) -> None:
        if found := _TAKE.fullmatch(action):
            self.held = found[1]
            self.inside.setdefault(found[2], set()).discard(found[1])
        elif found := _PLACE.fullmatch(action):
            self.held = ""
            self.inside.setdefault(found[2], set()).add(found[1])
        elif found := _TREAT.fullmatch(action):
            self._treat(found[1], found[2])
        elif found := _USE.fullmatch(action):
            self.lit.setdefault(found[1], set()).add(self.place)
        elif found := _GO.fullmatch(action):
            arrival = _ARRIVAL.match(text)
            self.place = arrival[1] if arrival else found[1]

    def _treat(self, verb: str, thing: str) -> None:
        self.treated[verb].add(thing)
        for one, other in (("heat", "cool"), ("cool", "heat")):
            if verb == one:
                self.treated[other].discard(thing)

    def in_any(self, receptacle_class: str) -> Sequence[set[str]]:
        """What each known receptacle of a class holds."""
        return [
            things for name, things in self.inside.items() if class_of(name) == receptacle_class
        ]


def _words_of(observation: Observation) -> str:
    """The game's own words, without the list of admissible commands behind them."""
    return (observation.text or observation.output).partition("\nAdmissible commands:")[0]
