"""What tests of several rooms play."""

import pytest

from agentquest.lib import Benchmark
from episode_players import builtin_homes


@pytest.fixture(scope="module")
def homes() -> Benchmark:
    return builtin_homes()
