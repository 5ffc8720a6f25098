"""Tens of thousands of environments for training, spread over the actors of a Ray cluster.

    games = RayVector("alfworld", env_num=20_000, settings={"split": "train"}, address="auto")
    turns = games.reset([...])               # one task per group, as for a SessionVector
    turns = games.step([turn.admissible[0] for turn in turns])

What is returned is what a `SessionVector` of one process returns. A step is one
message to each actor and one back, whatever the number of slots; slots that are
over cost nothing. An actor that dies is made anew and plays its slots' commands
again: engines are deterministic, so that is the state it was in, and that it is
is checked. `recreated` names the slots to which this happened in the last call.
"""

import logging
import pickle
import sys
from bisect import bisect
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from agentquest.adapters.arenas import shared_arena
from agentquest.errors import AgentQuestError, UserError
from agentquest.lib import Session, Task, Turn
from agentquest.lib.arena import Wanted
from agentquest.lib.vector import check_commands, check_length
from agentquest.running.executors.pool import begin_worker
from agentquest.running.executors.ray import (
    SAY_AFTER_S,
    actor_options,
    connect,
    explain_waiting,
    ray_module,
)
from agentquest.running.play import rare_collections
from agentquest.running.spec import versions

Past = tuple[Task, list[str]]
"""A slot's task and what was done in it."""
Parcel = bytes
"""Turns by slot, pickled here: Ray's own way costs a call into Python for every turn."""

_MOST_LOSSES = 3
logger = logging.getLogger(__name__)


class SlotActor:
    """The sessions of some slots; lives on some node of the cluster."""

    def __init__(
        self, benchmark: str, settings: Mapping[str, Any], max_steps: int | None, path: list[str]
    ) -> None:
        begin_worker(path)
        arena = shared_arena(benchmark, settings)
        self._sessions = defaultdict[int, Session](lambda: Session(arena, max_steps))

    def versions(self) -> dict[str, str]:
        """The versions this node plays with; they must be the caller's."""
        return versions()

    def step(self, commands: Mapping[int, str]) -> Parcel:
        """Do one command in each of these slots."""
        sessions = self._sessions
        with rare_collections():
            turns = {slot: sessions[slot].step(command) for slot, command in commands.items()}
            return _pack(turns)

    def replay(self, past: Mapping[int, Past]) -> Parcel:
        """Start slots' tasks and play what was played in them; returns the last turn of each."""
        turns = {slot: self._sessions[slot].reset(task) for slot, (task, _) in past.items()}
        for slot, (_, commands) in past.items():
            for command in commands:
                turns[slot] = self._sessions[slot].step(command)
        return _pack(turns)


def _pack(turns: Mapping[int, Turn]) -> Parcel:
    return pickle.dumps([list(turns), [tuple(turn) for turn in turns.values()]], 5)


def _unpack(parcel: Parcel) -> dict[int, Turn]:
    slots, turns = pickle.loads(parcel)  # made by an actor of ours, which Ray trusts anyway
    return dict(zip(slots, map(Turn._make, turns), strict=True))


class RayVector:
    """`env_num` × `group_n` sessions over `actors` actors (0: one for each CPU)."""

    def __init__(
        self,
        benchmark: str,
        env_num: int,
        group_n: int = 1,
        max_steps: int | None = 50,
        settings: Mapping[str, Any] | None = None,
        address: str | None = None,
        actors: int = 0,
        resources: Mapping[str, float] | None = None,
    ) -> None:
        if env_num < 1 or group_n < 1:
            raise UserError(f"env_num and group_n must be 1 or more, not {env_num} and {group_n}")
        self.arena = shared_arena(benchmark, settings)
        self.env_num = env_num
        self.group_n = group_n
        self.recreated: list[int] = []
        self._past: dict[int, Past] = {}
        self._turns: dict[int, Turn] = {}
        self._is_ours = connect(address)
        self._made_with = (benchmark, dict(settings or {}), max_steps, list(sys.path))
        self._options = dict(resources or {"num_cpus": 1})
        number = actors or max(1, int(ray_module().cluster_resources().get("CPU", 1)))
        number = min(number, len(self))
        self._starts = [len(self) * actor // number for actor in range(number + 1)]
        self._actors = [self._new_actor() for _ in range(number)]
        self._check_versions()

    def __len__(self) -> int:
        return self.env_num * self.group_n

    def reset(self, tasks: Sequence[Wanted], split: str | None = None) -> list[Turn]:
        """Start one task per group, in every slot of the group."""
        check_length("tasks", tasks, self.env_num, "groups")
        found = [self.arena.task(task, split) for task in tasks]
        self._reset({slot: found[slot // self.group_n] for slot in range(len(self))})
        return self.turns

    def reset_slot(self, slot: int, task: Wanted | None = None, split: str | None = None) -> Turn:
        """Start a task in one slot; without one, the task it has."""
        if not 0 <= slot < len(self):
            raise UserError(f"there is no slot {slot}: they are numbered 0 to {len(self) - 1}")
        if task is None and split is None and slot in self._past:
            self._reset({slot: self._past[slot][0]})
        else:
            self._reset({slot: self.arena.task(0 if task is None else task, split)})
        return self._turn_of(slot)

    def step(self, commands: Sequence[str | None]) -> list[Turn]:
        """One command per slot; None leaves a slot as it is. Nothing is played if one is wrong."""
        check_commands(commands, len(self), may_skip=True)
        going_on = {
            slot: command
            for slot, command in enumerate(commands)
            if command is not None and not self._turn_of(slot).over
        }
        self._turns |= self._ask("step", going_on)
        for slot, command in going_on.items():
            self._past[slot][1].append(command)
        return self.turns

    @property
    def turns(self) -> list[Turn]:
        """The newest turn of every slot."""
        return [self._turn_of(slot) for slot in range(len(self))]

    @property
    def running(self) -> list[bool]:
        """Which slots' episodes go on."""
        return [not turn.over for turn in self.turns]

    def close(self) -> None:
        """End the actors, and the cluster if it was started for them."""
        for actor in self._actors:
            ray_module().kill(actor)
        self._actors = []
        if self._is_ours:
            ray_module().shutdown()
            self._is_ours = False

    def _reset(self, tasks: Mapping[int, Task]) -> None:
        past: dict[int, Past] = {slot: (task, []) for slot, task in tasks.items()}
        self._turns |= self._ask("replay", past)
        self._past |= past

    def _turn_of(self, slot: int) -> Turn:
        if slot not in self._turns:
            raise UserError("call reset() first")
        return self._turns[slot]

    def _ask(self, method: str, wanted: Mapping[int, Any]) -> dict[int, Turn]:
        """One call to each actor that has some of these slots; all of them at once."""
        self.recreated = []
        shares = defaultdict[int, dict[int, Any]](dict)
        for slot, asked in wanted.items():
            shares[bisect(self._starts, slot) - 1][slot] = asked
        calls = {
            actor: getattr(self._actors[actor], method).remote(share)
            for actor, share in shares.items()
        }
        turns: dict[int, Turn] = {}
        try:
            with rare_collections():
                for actor, call in calls.items():
                    turns |= _unpack(self._answer(actor, method, call, shares[actor]))
        except AgentQuestError:
            for slot in wanted:  # some may have been played: they have to be reset
                self._past.pop(slot, None)
                self._turns.pop(slot, None)
            raise
        return turns

    def _answer(self, actor: int, method: str, call: Any, *asked: Any) -> Any:
        """What a call to an actor returns, which is made anew if it dies."""
        lost = ray_module().exceptions.RayActorError
        for _ in range(_MOST_LOSSES):
            try:
                return _got(call)
            except lost:
                self._recreate(actor)
                call = getattr(self._actors[actor], method).remote(*asked)
        slot = self._starts[actor]
        raise AgentQuestError(f"{_MOST_LOSSES} actors in a row died with slots {slot} and after")

    def _recreate(self, actor: int) -> None:
        """Make an actor anew, and play again what was played in its slots."""
        slots = range(self._starts[actor], self._starts[actor + 1])
        past = {slot: self._past[slot] for slot in slots if slot in self._past}
        self._actors[actor] = self._new_actor()
        self.recreated = sorted({*self.recreated, *past})
        try:
            turns = _unpack(_got(self._actors[actor].replay.remote(past)))
        except ray_module().exceptions.RayActorError:
            return  # this one died too, which the next call to it finds out
        for slot, turn in turns.items():
            if turn != self._turns[slot]:
                raise AgentQuestError(f"slot {slot} went differently when it was replayed")

    def _new_actor(self) -> Any:
        remote = ray_module().remote(SlotActor)
        return remote.options(**actor_options(self._options)).remote(*self._made_with)

    def _check_versions(self) -> None:
        calls = [actor.versions.remote() for actor in self._actors]
        _, missing = ray_module().wait(calls, num_returns=len(calls), timeout=SAY_AFTER_S)
        if missing:
            reason = explain_waiting(self._options, len(calls))
            logger.warning("%d of %d actors still to start: %s", len(missing), len(calls), reason)
        for actor, call in enumerate(calls):
            theirs = self._answer(actor, "versions", call)
            if theirs != versions():
                raise UserError(
                    f"a node has {theirs}, this process {versions()}; install the same versions"
                )


def _got(call: Any) -> Any:
    """An answer; an error of ours is raised as it was there."""
    try:
        return ray_module().get(call)
    except ray_module().exceptions.RayTaskError as error:
        if isinstance(error.cause, AgentQuestError):
            raise error.cause from None
        raise
