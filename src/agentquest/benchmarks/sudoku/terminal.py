"""How a person at the terminal sees a Sudoku."""

from agentquest.benchmarks.sudoku.types import BOARD_HEADING, EMPTY, as_rows, read_board
from agentquest.lib import Observation, TerminalView

_EDGE = "  +-------+-------+-------+"
_COLUMNS = "    0 1 2   3 4 5   6 7 8"


class SudokuView(TerminalView):
    """Draws the board, and lists the commands by their row."""

    def room(self, observation: Observation) -> str:
        return f"Type row, column and value, such as 0 3 7.\n{_drawn(observation.text)}"

    def said(self, observation: Observation) -> str:
        remark, heading, _ = observation.text.partition(BOARD_HEADING)
        drawn = _drawn(observation.text)
        return f"{remark}{drawn}" if heading else drawn

    def verb_and_rest(self, command: str) -> tuple[str, str]:
        row, _, rest = command.partition(", ")
        return row, rest


def _drawn(text: str) -> str:
    cells = read_board(text)
    if cells is None:
        return text
    lines = [_COLUMNS]
    for number, row in enumerate(as_rows(cells)):
        parts = [" ".join(row[start : start + 3]) for start in (0, 3, 6)]
        lines += [_EDGE] if number % 3 == 0 else []
        lines.append(f"{number} | {' | '.join(parts)} |".replace(EMPTY, "."))
    return "\n".join([*lines, _EDGE])
