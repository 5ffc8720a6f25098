"""Environments with other people's A2A software, each by itself.

Made once in `.a2a-venvs` beside the project's own environment, from the package
index; tests that need one are skipped where there is no index. What takes long
to install is made only for `make conformance`.
"""

from pathlib import Path

from own_environment import own_python

FOLDER = Path(__file__).resolve().parents[2] / ".a2a-venvs"
REQUIREMENTS = {
    "duckdb": ["duckdb==1.4.1"],
    "sdk-0.3": ["a2a-sdk[http-server]==0.3.26"],
    "pydantic-ai-1": ["pydantic-ai-slim==1.107.0", "fasta2a==0.6.1"],
    "pydantic-ai-2": ["pydantic-ai-slim==2.66.0", "fasta2a==2.1.1"],
    "strands": ["strands-agents[a2a]==1.62.0"],
    "agent-framework": ["agent-framework-a2a==1.0.0b261022", "a2a-sdk[http-server]==1.3.0"],
}
SLOW = {
    "google-adk": ["google-adk[a2a]==2.13.0"],
    "crewai": ["crewai[a2a]==1.15.30"],
}


def environment(name):
    """The interpreter of an environment; skips the test where it cannot be had."""
    wanted = [*(REQUIREMENTS | SLOW)[name], "uvicorn"]
    return own_python(FOLDER / name, wanted, takes_long=name in SLOW)
