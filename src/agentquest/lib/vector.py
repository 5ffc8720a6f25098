"""Many sessions in one process, stepped together.

Slots come in groups: each of `env_num` tasks is played by `group_n` copies, so
slot i belongs to group i // group_n. Games of one task share everything that
does not change. A slot whose episode is over repeats its last turn until it is
reset; `running` is the mask of those that are not.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from typing import cast

from agentquest.errors import UserError
from agentquest.lib.arena import Arena, Wanted
from agentquest.lib.session import Session, Turn


class SessionVector:
    """`env_num` × `group_n` sessions."""

    def __init__(
        self, arena: Arena, env_num: int, group_n: int = 1, max_steps: int | None = 50
    ) -> None:
        if env_num < 1 or group_n < 1:
            raise UserError(f"env_num and group_n must be 1 or more, not {env_num} and {group_n}")
        self.arena = arena
        self.env_num = env_num
        self.group_n = group_n
        self.sessions: list[Session] = [Session(arena, max_steps) for _ in range(env_num * group_n)]

    def __len__(self) -> int:
        return len(self.sessions)

    def reset(self, tasks: Sequence[Wanted], split: str | None = None) -> list[Turn]:
        """Start one task per group, in every slot of the group."""
        check_length("tasks", tasks, self.env_num, "groups")
        found = [self.arena.task(task, split) for task in tasks]
        group_n = self.group_n
        return [session.reset(found[slot // group_n]) for slot, session in enumerate(self.sessions)]

    def reset_slot(self, slot: int, task: Wanted | None = None, split: str | None = None) -> Turn:
        """Start a task in one slot; without one, the task it has."""
        if not 0 <= slot < len(self.sessions):
            raise UserError(f"there is no slot {slot}: they are numbered 0 to {len(self) - 1}")
        return self.sessions[slot].reset(task, split)

    def step(self, commands: Sequence[str | None]) -> list[Turn]:
        """One command per slot; None leaves a slot as it is. Nothing is played if one is wrong."""
        check_commands(commands, len(self.sessions), may_skip=True)
        return [
            session.last if command is None else session.step(command)
            for session, command in zip(self.sessions, commands, strict=True)
        ]

    @property
    def turns(self) -> list[Turn]:
        """The newest turn of every slot."""
        return [session.last for session in self.sessions]

    @property
    def running(self) -> list[bool]:
        """Which slots' episodes go on."""
        return [not session.last.over for session in self.sessions]

    def close(self) -> None:
        """Close every session."""
        for session in self.sessions:
            session.close()


def check_commands(commands: object, slots: int, may_skip: bool = False) -> None:
    """Refuse anything but a command for each slot, before any is played; None skips a slot."""
    check_length("commands", commands, slots, "slots")
    for slot, command in enumerate(cast(Sequence[object], commands)):
        if not (isinstance(command, str) or (may_skip and command is None)):
            kind = type(command).__name__
            raise UserError(f"the command of slot {slot} must be text, not {kind}")


def check_length(what: str, given: object, wanted: int, places: str) -> None:
    """Refuse anything but a list or an array of one thing for each place."""
    if isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Collection):
        raise UserError(f"{what} must be a list, not a {type(given).__name__}")
    if len(given) != wanted:
        raise UserError(f"got {len(given)} {what} for {wanted} {places}")
