"""Prompts made from a template file that a user can replace.

A template has the sections `[system]`, `[user]` and, for when example games are
shown, `[examples]`; each begins with its name alone on a line. `$name` is
replaced (string.Template rules; `$$` is a dollar sign): in `[system]`
`$instructions` and `$examples`, in `[examples]` `$demonstrations`, in `[user]`
`$goal`, `$help`, `$history` and `$check` (a sentence that `check valid actions` is
a command, where it is one).
"""

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template

from agentquest.errors import ConfigError

_SECTION = re.compile(r"^\[(system|examples|user)\]\n", re.MULTILINE)
_NAMES = {
    "system": {"instructions", "examples"},
    "examples": {"demonstrations"},
    "user": {"goal", "help", "history", "check"},
}


class PromptTemplate:
    """A template that was checked when it was made; ConfigError says what is wrong, and where."""

    def __init__(self, text: str, where: str) -> None:
        parts = _SECTION.split(text)
        for name in _NAMES:
            if parts[1::2].count(name) > 1:
                raise ConfigError(f"{where}: [{name}] is given twice")
        self._sections = dict(zip(parts[1::2], parts[2::2], strict=True))
        if "user" not in self._sections or parts[0].strip():
            raise ConfigError(f"{where}: a prompt template begins with [system] and needs [user]")
        for name, body in self._sections.items():
            self._check(name, body, where)

    @staticmethod
    def _check(name: str, body: str, where: str) -> None:
        try:
            Template(body).substitute(dict.fromkeys(_NAMES[name], ""))
        except KeyError as error:
            known = ", ".join(f"${known}" for known in sorted(_NAMES[name]))
            raise ConfigError(f"{where}: [{name}] knows {known}, not ${error.args[0]}") from None
        except ValueError as error:
            raise ConfigError(f"{where}: [{name}]: {error} (write $$ for a dollar sign)") from None

    def system(self, instructions: str, demonstrations: str) -> str:
        """The part that stays the same all through an episode, so that servers can cache it."""
        examples = ""
        if demonstrations:
            examples = self._fill("examples", demonstrations=demonstrations)
        return self._fill("system", instructions=instructions, examples=examples).strip()

    def user(self, goal: str, help_lines: str, history: str, check: str = "") -> str:
        """The part that is new at every step."""
        values = {"goal": goal, "help": help_lines, "history": history, "check": check}
        return self._fill("user", **values).strip()

    def _fill(self, name: str, **values: str) -> str:
        return Template(self._sections.get(name, "")).substitute(values)


@cache
def load_template(file: Path | None) -> PromptTemplate:
    """The user's template, or the built-in one."""
    if file is None:
        text = files("agentquest.agents.react").joinpath("prompts/react.txt").read_text("utf-8")
        return PromptTemplate(text, "prompts/react.txt")
    try:
        return PromptTemplate(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"agent.prompt_file: cannot read {file}: {error}") from None
