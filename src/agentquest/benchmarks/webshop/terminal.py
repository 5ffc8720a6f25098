"""How a person at the terminal sees the shop."""

import re

from agentquest.lib import Observation, TerminalView

_SEPARATOR = " [SEP] "
_INSTRUCTION = "Instruction:"
_PRODUCT_CODE = re.compile(r"[A-Z0-9]{10}")
_LONG = 50  # characters; shorter pieces of a page share a line


class WebshopView(TerminalView):
    """Shows a page without its instruction, each product of the results on a line."""

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

    def verb_and_rest(self, command: str) -> tuple[str, str]:
        verb, _, rest = command.partition("[")
        return verb, rest.removesuffix("]")


def _begins_line(text: str, before: str) -> bool:
    """Whether a text begins a line: results and long texts do, short texts share one."""
    if _PRODUCT_CODE.fullmatch(before) or text.startswith("$"):
        return False
    begins = _PRODUCT_CODE.fullmatch(text) or text.startswith(("Page ", "Price: ", "Description"))
    return bool(begins) or len(text) > _LONG or len(before) > _LONG
