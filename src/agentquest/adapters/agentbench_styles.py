"""How AgentBench words its tasks: the tools' names, and how observations are told."""

from dataclasses import dataclass
from typing import Any

from agentquest.adapters.text_player import briefing_of
from agentquest.benchmarks.alfworld.reading import strip_location
from agentquest.benchmarks.webshop.game import WebshopGame
from agentquest.lib import Arena, Session, Turn
from agentquest.records.messages import ToolSpec


def _tool(name: str, description: str, parameter: str, meaning: str, command: str) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": {parameter: {"type": "string", "description": meaning}},
        "required": [parameter],
        "additionalProperties": False,
    }
    return ToolSpec(name=name, description=description, parameters=schema, command=command)


@dataclass(frozen=True)
class Style:
    """Any benchmark, with the tools it declares itself."""

    instructions: str
    tools: tuple[ToolSpec, ...]

    def first(self, session: Session, turn: Turn) -> str:
        """The message that opens a sample: the goal and the first observation."""
        return f"Goal: {session.goal}\n\n{turn.text}"

    def told(self, session: Session, turn: Turn, action: str | None) -> str:
        """What an action led to; `action` is None where the answer held none."""
        return turn.text

    def overall(self, rewards: list[float]) -> dict[str, Any]:
        """The result over all samples, made of their rewards."""
        return {"reward": _mean(rewards)}


class AlfworldStyle(Style):
    """ALFWorld: one tool that takes any action, and the available actions after every text."""

    def first(self, session: Session, turn: Turn) -> str:
        """The scene and the task, without the paragraph that opens every game."""
        scene = "\n".join(turn.text.split("\n\n")[1:])
        return f"Here is your task. {scene}{_available(turn)}"

    def told(self, session: Session, turn: Turn, action: str | None) -> str:
        """The observation; on arrival, only what is seen there."""
        return f"{strip_location(turn.text)}{_available(turn)}"

    def overall(self, rewards: list[float]) -> dict[str, Any]:
        """Samples counted as passed or wrong; only a reward of 1 is a pass."""
        passed = sum(reward == 1 for reward in rewards)
        total = len(rewards)
        counts = {"total": total, "pass": passed, "wrong": total - passed}
        return {"overall": {**counts, "success_rate": passed / total if total else 0}}


class WebshopStyle(Style):
    """WebShop: tools to search and to click, and what can be clicked after every page."""

    def first(self, session: Session, turn: Turn) -> str:
        """The first page, and what can be done on it."""
        return f"The initial observation:\n{turn.text}\n\n{_clickables(session)}"

    def told(self, session: Session, turn: Turn, action: str | None) -> str:
        """The page that came, after the action that led to it."""
        said = f"Observation:\n{turn.text}\n\n{_clickables(session)}"
        return said if action is None else f"Action: {action}\n\n{said}"


def style_of(arena: Arena) -> Style:
    """AgentBench's own style for ALFWorld and WebShop; the plain one for any other benchmark."""
    briefing = briefing_of(arena)
    if arena.benchmark.name == "alfworld":
        act = _tool(
            "take_action", "Take one of the available actions.", "action", "The action.", "<action>"
        )
        return AlfworldStyle(briefing.instructions, (act,))
    if arena.benchmark.name == "webshop":
        search = _tool(
            "search_action", "Search for products.", "keywords", "Words.", "search[<keywords>]"
        )
        click = _tool(
            "click_action", "Click what the page offers.", "value", "Its text.", "click[<value>]"
        )
        return WebshopStyle(briefing.instructions, (search, click))
    return Style(briefing.instructions, briefing.tools)


def _available(turn: Turn) -> str:
    commands = "\n".join(turn.admissible)
    return f" AVAILABLE ACTIONS: {commands}\n"


def _clickables(session: Session) -> str:
    game = session.game
    assert isinstance(game, WebshopGame)
    page = game.session.page
    available = {"has_search_bar": page.search_bar, "clickables": list(page.clickables)}
    return f"Available Actions:\n{available}"


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0
