"""What an answer cost its agent, carried in the metadata of the reply.

Agents under test pay for their own models; those that say what they paid have
it in the records and reports. What an agent says of itself is checked for
sense and marked as its own word: it changes no score.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from agentquest.records.episode import Call
from agentquest.records.messages import Usage

USAGE = "urn:agentquest:usage"
REPORTED = "reported"
_MOST_CALLS = 16
_LONGEST_NAME = 200
_MOST_TOKENS = 1_000_000_000


def usage_metadata(calls: Sequence[Call]) -> dict[str, Any]:
    """The metadata of a reply that took these model calls."""
    if not calls:
        return {}
    return {USAGE: [_written(call) for call in calls]}


def read_calls(metadata: dict[str, Any]) -> tuple[Call, ...]:
    """The model calls that a reply says it took; what makes no sense is left out."""
    listed = metadata.get(USAGE)
    found = (_read(one) for one in (listed[:_MOST_CALLS] if isinstance(listed, list) else []))
    return tuple(call for call in found if call is not None)


def _written(call: Call) -> dict[str, Any]:
    usage = call.usage.model_dump() if call.usage is not None else {}
    cost = {"cost": call.cost} if call.cost is not None else {}
    return {"model": call.model, **usage, **cost}


def _read(entry: Any) -> Call | None:
    if not isinstance(entry, dict):
        return None
    counts = {name: _count(entry.get(name)) for name in Usage.model_fields}
    known = {name: number for name, number in counts.items() if number is not None}
    cost = entry.get("cost")
    try:
        return Call(
            model=str(entry.get("model", ""))[:_LONGEST_NAME],
            kind=REPORTED,
            usage=Usage(**known) if known else None,
            cost=cost if isinstance(cost, int | float) and 0 <= cost < _MOST_TOKENS else None,
        )
    except ValidationError:
        return None


def _count(value: Any) -> int | None:
    """Numbers of a metadata object arrive as floats."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < _MOST_TOKENS else None
