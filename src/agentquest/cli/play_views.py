"""What a person at the terminal needs to know about one benchmark's games.

Everything else about playing is the same for all benchmarks. One without a
view of its own is shown in its own words, and has no hints.
"""

import re
from itertools import groupby

from agentquest.benchmarks.alfworld import AlfWorldDriver
from agentquest.lib import Driver, Observation

_SEPARATOR = " [SEP] "
_INSTRUCTION = "Instruction:"
_PRODUCT_CODE = re.compile(r"[A-Z0-9]{10}")
_LONG = 50  # characters; shorter pieces of a page share a line
_SEEN = re.compile(r"Looking quickly around you, you see (.+)\.")
_ARTICLE_KIND_NUMBER = re.compile(r"(?:and )?a (\S+) (\d{1,6})")


class GameView:
    """A game of any benchmark."""

    title = ""
    has_hints = False

    def room(self, observation: Observation) -> str:
        """The first observation without its goal, as short as it can be understood."""
        return observation.text or observation.output

    def said(self, observation: Observation) -> str:
        """What the game answers, laid out for reading."""
        return observation.text or observation.output

    def plan(self, driver: Driver) -> list[str]:
        """The shortest winning plan from here; empty when there is none."""
        return []

    def verb_and_rest(self, command: str) -> tuple[str, str]:
        """A command in two parts: commands with the same first part are listed together."""
        verb, _, rest = command.partition(" ")
        return verb, rest


class AlfWorldView(GameView):
    title = "ALFWorld"
    has_hints = True

    def room(self, observation: Observation) -> str:
        seen = _SEEN.search(observation.text)
        names = grouped_names(seen[1]) if seen else None
        if names is None:
            scene, _, _ = observation.text.partition("\n\nYour task is to: ")
            return scene.partition("\n\n")[2] or scene
        return f"You are in the middle of a room. Around you: {names}."

    def plan(self, driver: Driver) -> list[str]:
        assert isinstance(driver, AlfWorldDriver)
        return driver.oracle_actions()

    def verb_and_rest(self, command: str) -> tuple[str, str]:
        if command.startswith("go to "):
            return "go to", command.removeprefix("go to ")
        return super().verb_and_rest(command)


class WebshopView(GameView):
    title = "WebShop"
    has_hints = True

    def room(self, observation: Observation) -> str:
        return "The search page of a shop: search[<words>] looks for products."

    def said(self, observation: Observation) -> str:
        """The page without the instruction, a product of the results to a line."""
        texts = observation.text.split(_SEPARATOR)
        if texts[0] == _INSTRUCTION:
            del texts[:2]
        if _INSTRUCTION in texts:
            return self.room(observation)
        lines = [""]
        for place, text in enumerate(texts):
            if _begins_line(text, texts[place - 1] if place else ""):
                lines.append("")
            lines[-1] += f"  {text}" if lines[-1] else text
        return "\n".join(line for line in lines if line)

    def plan(self, driver: Driver) -> list[str]:
        return list(driver.oracle_actions())  # type: ignore[attr-defined]

    def verb_and_rest(self, command: str) -> tuple[str, str]:
        verb, _, rest = command.partition("[")
        return verb, rest.removesuffix("]")


def _begins_line(text: str, before: str) -> bool:
    """Results get a line each, long texts one of their own, short ones share."""
    if _PRODUCT_CODE.fullmatch(before) or text.startswith("$"):
        return False
    begins = _PRODUCT_CODE.fullmatch(text) or text.startswith(("Page ", "Price: ", "Description"))
    return bool(begins) or len(text) > _LONG or len(before) > _LONG


_VIEWS: dict[str, type[GameView]] = {"alfworld": AlfWorldView, "webshop": WebshopView}


def view_of(benchmark: str) -> GameView:
    return _VIEWS.get(benchmark, GameView)()


def grouped_names(enumeration: str) -> str | None:
    """`a desk 1, a shelf 2, and a shelf 1` as `desk 1, shelf 1–2`; None if it reads otherwise."""
    numbers: dict[str, set[int]] = {}
    for item in enumeration.split(", "):
        found = _ARTICLE_KIND_NUMBER.fullmatch(item)
        if found is None:
            return None
        numbers.setdefault(found[1], set()).add(int(found[2]))
    return ", ".join(f"{kind} {_runs(numbers[kind])}" for kind in sorted(numbers))


def _runs(numbers: set[int]) -> str:
    runs = []
    # Within a run of consecutive numbers, number minus position stays the same.
    for _, members in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in members]
        runs.append(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}")
    return " ".join(runs)
