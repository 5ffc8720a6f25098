"""Where these programs write: lines for people, on standard output, at once."""

import sys


def say(line: str = "") -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
