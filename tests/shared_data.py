"""Where the recordings of the original engines and the real data live, for tests that need them.

They are not part of this repository. Tests that need them carry a mark and are
skipped, with the reason, where the folder is absent.
"""

import os
from pathlib import Path

import pytest

SHARED = Path(
    os.environ.get("AGENTQUEST_SHARED", Path(__file__).resolve().parents[1].parent / "shared")
)
ALFWORLD = SHARED / "alfworld"
WEBSHOP = SHARED / "webshop"

needs_alfworld = pytest.mark.skipif(
    not ALFWORLD.is_dir(), reason="real ALFWorld games and recordings are not on this machine"
)
needs_webshop = pytest.mark.skipif(
    not WEBSHOP.is_dir(), reason="real WebShop data and recordings are not on this machine"
)
