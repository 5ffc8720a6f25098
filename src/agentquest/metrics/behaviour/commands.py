"""The commands of a game as the behaviour metrics compare them."""

from collections.abc import Iterable


class Commands(tuple[str, ...]):
    """Commands that are normalised already."""

    __slots__ = ()


def normalised(commands: Iterable[str]) -> Commands:
    """Lower-cased and stripped: differences of case and margin are no differences."""
    if isinstance(commands, Commands):
        return commands
    return Commands(command.strip().lower() for command in commands)


def argument(command: str, verb: str) -> str | None:
    """What follows the verb in a normalised command: `open fridge 1` gives `fridge 1`."""
    start = verb.split()
    if not start or not command.startswith(start[0]):
        return None
    words = command.split(maxsplit=len(start))
    if len(words) <= len(start) or words[: len(start)] != start:
        return None
    return words[len(start)]
