"""Reading the player's lines: with completion in a terminal, plainly everywhere else.

A reader gives None when the player leaves (Ctrl-C, Ctrl-D, end of a pipe).
"""

import os
import sys
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from agentquest.extras import install_command, is_installed
from agentquest.safe_text import one_line, say

if TYPE_CHECKING:
    from prompt_toolkit.completion import Completer
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

Completions = Callable[[str], list[str]]


class PlainReader:
    """Standard input line by line. Piped input is echoed, as a keyboard's would be.

    `remark` is a line to show once, before the first question.
    """

    remark = ""

    def __init__(self) -> None:
        self._typed = sys.stdin.isatty()
        if self._typed and not is_installed("prompt_toolkit"):
            self.remark = f"For Tab completion: {install_command('play')}"
        if isinstance(sys.stdin, TextIOWrapper):
            # Undecodable bytes become an unknown command, not a crash.
            sys.stdin.reconfigure(errors="backslashreplace")

    def ask(
        self, prompt: str, completions: Completions | None = None, below: str = ""
    ) -> str | None:
        """One line, or None when the player leaves; `below` is shown under the prompt if it can."""
        try:
            line = input(prompt)
        except (EOFError, KeyboardInterrupt):
            say()
            return None
        if not self._typed:
            say(line)
        return line


class CompletingReader(PlainReader):
    """prompt_toolkit: completion while typing, history with the arrow keys."""

    def __init__(self) -> None:
        from prompt_toolkit import PromptSession

        self._session: PromptSession[str] = PromptSession()
        self._menus: PromptSession[str] = PromptSession()

    def ask(
        self, prompt: str, completions: Completions | None = None, below: str = ""
    ) -> str | None:
        session = self._menus if completions is None else self._session
        try:
            return session.prompt(
                prompt,
                completer=None if completions is None else _completer(completions),
                complete_while_typing=True,
                bottom_toolbar=one_line(below) or None,
                key_bindings=None if completions is None else _tab(completions),
            )
        except (EOFError, KeyboardInterrupt):
            return None


def make_reader() -> PlainReader:
    """With completion in a terminal if prompt_toolkit is installed, else the plain reader."""
    in_terminal = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    return CompletingReader() if in_terminal and is_installed("prompt_toolkit") else PlainReader()


def _completer(completions: Completions) -> "Completer":
    from prompt_toolkit.completion import Completer, Completion
    from prompt_toolkit.document import Document

    class WholeLine(Completer):
        """Offers whole commands in place of what was typed so far."""

        def get_completions(self, document: Document, complete_event: Any) -> Iterator[Completion]:
            typed = document.text_before_cursor
            for command in completions(typed):
                yield Completion(command, -len(typed), display=one_line(command))

    return WholeLine()


def _tab(completions: Completions) -> "KeyBindings":
    """Tab takes the only matching command, or cycles through all that match.

    By itself the toolkit's Tab only opens the menu, and does nothing at all while
    the menu for the last letter is still being made.
    """
    from prompt_toolkit.key_binding import KeyBindings

    bindings = KeyBindings()

    @bindings.add("tab")
    def take(event: "KeyPressEvent") -> None:
        buffer = event.current_buffer
        fitting = completions(buffer.document.text_before_cursor)
        if buffer.complete_state:
            buffer.complete_next()
        elif len(fitting) == 1:
            buffer.delete_before_cursor(len(buffer.document.text_before_cursor))
            buffer.insert_text(fitting[0])
        else:
            buffer.start_completion(select_first=True)

    return bindings
