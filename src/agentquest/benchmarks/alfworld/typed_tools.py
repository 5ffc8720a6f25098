"""ALFWorld's commands as tools, one for each kind, for models that call functions."""

from functools import cache

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.lib.commands import BLANK
from agentquest.records.messages import ToolSpec

_MEANINGS = {
    "object": "An object with its number, such as `apple 1`.",
    "receptacle": "A receptacle with its number, such as `countertop 2`.",
    "tool": "What it is done with, with its number, such as `knife 1`.",
    "thing": "An object or receptacle with its number.",
}


@cache
def typed_tools(dialect: Dialect) -> tuple[ToolSpec, ...]:
    """The tools; putting something down is said in the dialect's words."""
    put = dialect.put("<object>", "<receptacle>")
    kinds = (
        ("look", "See what is around you.", "look"),
        ("inventory", "See what you carry.", "inventory"),
        ("go_to", "Walk to a receptacle and see what is on it.", "go to <receptacle>"),
        ("open", "Open a receptacle where you are.", "open <receptacle>"),
        ("close", "Close a receptacle where you are.", "close <receptacle>"),
        ("take", "Pick up an object.", "take <object> from <receptacle>"),
        ("put", "Put down what you carry.", put),
        ("clean", "Clean what you carry at a sinkbasin.", "clean <object> with <receptacle>"),
        ("heat", "Heat what you carry at a microwave.", "heat <object> with <receptacle>"),
        ("cool", "Cool what you carry at a fridge.", "cool <object> with <receptacle>"),
        ("use", "Turn on a lamp.", "use <object>"),
        ("slice", "Slice an object with a knife in your hand.", "slice <object> with <tool>"),
        ("examine", "Look at an object or receptacle.", "examine <thing>"),
    )
    return tuple(_tool(*kind) for kind in kinds)


def _tool(name: str, description: str, command: str) -> ToolSpec:
    names = BLANK.findall(command)
    schema = {
        "type": "object",
        "properties": {
            blank: {"type": "string", "description": _MEANINGS[blank]} for blank in names
        },
        "required": names,
        "additionalProperties": False,
    }
    return ToolSpec(name=name, description=description, parameters=schema, command=command)
