"""A session that is answered in free text, read as the evaluator reads it.

What holds no action costs a step and is told; nothing is repaired.
"""

from agentquest.errors import ParseError
from agentquest.lib import Arena, Briefing, Session, Task, Turn, parse_action

HOW_TO_ANSWER = (
    "Think as much as you like, then end your answer with one command in the form:\n"
    "Action: <command>"
)


class TextPlayer:
    """Turns answers into steps, and turns into what is said next."""

    def __init__(self, arena: Arena, max_steps: int | None, show_admissible: bool) -> None:
        self.session = Session(arena, max_steps)
        self._show_admissible = show_admissible

    def begin(self, task: Task | str) -> str:
        """The goal and the first observation."""
        turn = self.session.reset(task)
        return f"Goal: {self.session.goal}\n\n{self._told(turn)}"

    def answer(self, reply: str) -> str:
        """What is seen after an answer."""
        try:
            return self._told(self.session.step(parse_action(reply)))
        except ParseError as error:
            return self._told(self.session.miss(str(error)))

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.session.last.over

    def _told(self, turn: Turn) -> str:
        if self._show_admissible and not turn.over:
            return f"{turn.text}\n\nPossible now: {', '.join(turn.admissible)}"
        return turn.text


def briefing_of(arena: Arena, task: Task | None = None) -> Briefing:
    """What the benchmark says of itself before a game."""
    chosen = task or arena.task(0)
    driver = arena.benchmark.driver(chosen)
    driver.reset()
    return arena.benchmark.briefing(driver, chosen, 0)


def system_prompt(arena: Arena) -> str:
    """The benchmark's instructions, and the form that answers must have."""
    return f"{briefing_of(arena).instructions}\n\n{HOW_TO_ANSWER}"
