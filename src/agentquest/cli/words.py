"""Small matters of language in what commands print."""


def counted(number: int, noun: str) -> str:
    """`1 episode`, `12 episodes`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
