"""What the index shows of this project: its page with links that work there, and its addresses.

The repository's address stands nowhere in the sources, so that a fork is a whole project: a
release takes it from $AGENTQUEST_REPOSITORY, which the release workflow sets. Without it links
stay as they are and no addresses are given.
"""

import os
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"\]\((?!https?://|#)([^)\s]+)\)")
_PICTURE = re.compile(r"(!\[[^\]]*)\]\((?!https?://)([^)\s]+)\)")


class ProjectPage(MetadataHookInterface):
    """Fills in `readme` and `urls`."""

    def update(self, metadata: dict) -> None:
        """Called by hatchling with the project table, before anything is built."""
        home = os.environ.get("AGENTQUEST_REPOSITORY", "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        if home:
            text = text.replace("](../../", f"]({home}/")  # the host's own pages, such as its tests
            text = _PICTURE.sub(rf"\1]({home}/raw/HEAD/\2)", text)
            text = _LINK.sub(rf"]({home}/blob/HEAD/\1)", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = _addresses(home) if home else {}


def _addresses(home: str) -> dict[str, str]:
    return {
        "Repository": home,
        "Documentation": f"{home}/tree/HEAD/docs",
        "Changelog": f"{home}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }
