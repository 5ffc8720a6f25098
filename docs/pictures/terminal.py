"""What a program wrote on a terminal, as a picture that fetches nothing, not even a font."""

import io

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

COLUMNS = 80
_THEME = TerminalTheme(
    (19, 23, 26), (228, 232, 235),
    [(19, 23, 26), (240, 120, 100), (120, 200, 140), (230, 190, 100),
     (120, 170, 240), (190, 150, 230), (98, 192, 209), (228, 232, 235)],
)  # fmt: skip
_FONTS = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'
_FRAME = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {terminal_width} {terminal_height}">'
    f"<style>.{{unique_id}}-matrix {{{{ font: {{char_height}}px {_FONTS} }}}} {{styles}}</style>"
    "<defs>{lines}</defs>"
    '<rect width="{terminal_width}" height="{terminal_height}" rx="10" fill="#13171a"/>'
    '<g transform="translate(14, 14)" class="{unique_id}-matrix">{backgrounds}{matrix}</g>'
    "</svg>\n"
)


def terminal_picture(written: str) -> str:
    """The text with its colours, as SVG."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi(f"{written.strip()}\n "))
    return console.export_svg(
        theme=_THEME, code_format=_FRAME, font_aspect_ratio=0.6, unique_id="t"
    )
