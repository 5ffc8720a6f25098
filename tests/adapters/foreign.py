"""Environments with the real packages, each by itself where their pins clash.

Made once in `.foreign/<name>` beside the project's own environment, from the
package index; tests that need one are skipped where there is no index. Those in
SLOW take longer than CI should wait: `make conformance` makes them.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from own_environment import own_python, skip_unless_asked_for

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".foreign"
# name -> what is installed there beside AgentQuest
PACKAGES = {
    "agentbench": ["agentrl-eval==0.1.2", "nltk"],
    "gym": ["gym==0.26.2"],
    "inspect": ["inspect-ai==0.3.285", "openai"],
    "langgraph": ["langgraph==1.2.20", "langchain-openai"],
    "mcp1": ["mcp>=1.30,<2"],
    "mcp2": ["mcp>=2.3,<3"],
    "mlflow": ["mlflow-skinny>=3.17"],
    "openai_agents": ["openai-agents==0.24.0"],
    "openenv": ["openenv==0.10.0"],
    "otel": ["opentelemetry-sdk>=1.30", "opentelemetry-exporter-otlp-proto-http>=1.30"],
    "pydantic_ai": ["pydantic-ai-slim[openai]==2.62.0"],
    "smolagents": ["smolagents[openai]==1.26.0"],
    "tables": ["pyarrow>=18", "datasets>=4"],
    "trl": ["trl==1.16.0"],
    "verifiers": ["verifiers==0.4.0"],
    "verifiers_openenv": ["verifiers==0.4.0", "openenv"],  # an older openenv, as pins clash
    "wandb": ["wandb>=0.20"],
}
SLOW = {
    *("langgraph", "mlflow", "openai_agents", "openenv", "pydantic_ai", "smolagents", "tables"),
    *("trl", "verifiers", "verifiers_openenv", "wandb"),
}


def foreign_python(name: str) -> str:
    """The interpreter of an environment, which is made if it is not there."""
    return own_python(FOLDER / name, [str(ROOT), *PACKAGES[name]], takes_long=name in SLOW)


def foreign_folder(requirement: str) -> str:
    """A folder to put on the path, with a package of which only a part is needed: its own
    requirements are not installed, and its wish for a newer Python is passed over."""
    skip_unless_asked_for(takes_long=False)
    folder = FOLDER / requirement
    if not folder.is_dir():
        draft = folder.with_suffix(".part")
        options = ["--quiet", "--retries", "1", "--no-deps", "--ignore-requires-python"]
        command = [sys.executable, "-m", "pip", "install", *options, "--target", str(draft)]
        done = subprocess.run(
            [*command, requirement], capture_output=True, text=True, timeout=600, check=False
        )
        if done.returncode:
            pytest.skip(f"cannot install {requirement}: {done.stderr.strip()[-300:]}")
        draft.rename(folder)
    return str(folder)
