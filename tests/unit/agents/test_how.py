"""The ways in which an action can be read are listed once, and each is documented."""

import re
from pathlib import Path

from agentquest.llms.types import ReplyKind
from agentquest.records.how import How

DOCS = Path(__file__).parents[3] / "docs"


def test_every_way_of_reading_is_documented() -> None:
    values = {value for name, value in vars(How).items() if name.isupper()}
    values |= {kind.value for kind in ReplyKind if kind is not ReplyKind.COMPLETE}
    pages = "".join(
        (DOCS / name).read_text() for name in ("evaluator.md", "agents.md", "records.md", "a2a.md")
    )
    assert values - set(re.findall(r"`([a-z_]+)`", pages)) == set()
