"""What a prompt says about ALFWorld: its commands and rules."""

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.records.messages import ToolSpec

ROLE = (
    "You are an agent in a household environment. Your goal is to complete tasks by taking actions."
)
EXAMPLES = '"go to desk 1" or "take book 1 from desk 1"'
TOOLS = (
    ToolSpec(
        name="act",
        description="Carry out one command in the household, exactly as it would be typed.",
        parameters={
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command, such as `look`."}
            },
            "required": ["command"],
            "additionalProperties": False,
        },
        command="<command>",
    ),
)
HELP_LINES = ("type 'inventory' to check items",)


def instructions(dialect: Dialect) -> str:
    """The commands and rules of the game, in the words of a dialect."""
    put = dialect.put("[object]", "[receptacle]")
    return f"""You are in a house and solve a household task by typing commands, one at a time.
Commands (names always carry their number, such as `apple 1` or `countertop 2`):
- look: see what is around you
- inventory: see what you carry
- go to [receptacle]: walk to a receptacle and see what is on it
- open [receptacle] / close [receptacle]
- take [object] from [receptacle]
- {put}: put down what you carry
- clean [object] with [receptacle]: at a sinkbasin
- heat [object] with [receptacle]: at a microwave
- cool [object] with [receptacle]: at a fridge
- use [object]: turn on a lamp
- slice [object] with [object]: with a knife in your hand
- examine [object or receptacle]
Rules:
- You can carry only one object at a time.
- You must go to a receptacle before you can do anything there.
- Some receptacles are closed: open them to see what is inside, to take it, or to put something in.
- `clean`, `heat` and `cool` need the object in your hand, and you at the right receptacle.
- To look at an object under a lamp, carry the object and use the lamp where it stands.
- "Nothing happens." means that the command was not possible or not understood."""
