"""Counts with the right form of their noun, for every message that has one."""


def counted(number: int, noun: str) -> str:
    """`1 episode`, `12 episodes`, `1,200 episodes`."""
    return f"{number:,} {plural(number, noun)}"


def plural(number: int, noun: str) -> str:
    """The noun alone: `episode` for 1, else `episodes`; `retry` becomes `retries`."""
    if number == 1:
        return noun
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"
