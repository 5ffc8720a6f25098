"""How wide the text is that commands print."""

import shutil


def terminal_width() -> int:
    """The width of the terminal, within what can be read; 80 where there is none."""
    return max(50, min(shutil.get_terminal_size((80, 24)).columns, 120))
