"""The ReAct agent's prompt, made from a template file that a user can replace.

The sections are `[system]`, `[user]` and, for when example games are shown,
`[examples]`. In `[system]` there are `$instructions` and `$examples`, in `[examples]`
`$demonstrations`, in `[user]` `$goal`, `$help`, `$history` and `$check` (a sentence that
`check valid actions` is a command, where it is one).
"""

from functools import cache
from importlib.resources import files
from pathlib import Path

from agentquest.agents.template_file import TemplateFile, read_template

_FIELDS = {
    "system": frozenset({"instructions", "examples"}),
    "examples": frozenset({"demonstrations"}),
    "user": frozenset({"goal", "help", "history", "check"}),
}


class PromptTemplate:
    """A prompt template, read and checked; `[user]` is the section it must have."""

    def __init__(self, text: str, where: str) -> None:
        self._file = TemplateFile(text, where, _FIELDS, "user")

    def system(self, instructions: str, demonstrations: str) -> str:
        """The part that stays the same all through an episode, so that servers can cache it."""
        examples = ""
        if demonstrations:
            examples = self._file.fill("examples", demonstrations=demonstrations)
        return self._file.fill("system", instructions=instructions, examples=examples).strip()

    def user(self, goal: str, help_lines: str, history: str, check: str = "") -> str:
        """The part that changes with each turn: the goal, the help and the recent history."""
        values = {"goal": goal, "help": help_lines, "history": history, "check": check}
        return self._file.fill("user", **values).strip()


def load_template(file: Path | None) -> PromptTemplate:
    """The user's template, or the built-in one."""
    if file is None:
        text = files("agentquest.agents.react").joinpath("prompts/react.txt").read_text("utf-8")
        return _made(text, "prompts/react.txt")
    return _made(read_template(file), str(file))


@cache
def _made(text: str, where: str) -> PromptTemplate:
    return PromptTemplate(text, where)
