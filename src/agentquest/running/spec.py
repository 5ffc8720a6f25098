"""An episode as plain data: everything needed to play it, here or in another process.

Specs pickle. What all episodes of a run have in common is one `RunContext`, so
that sending thousands of specs sends it once per worker.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentquest.lib import Task
from agentquest.records.episode import episode_key
from agentquest.records.outcome import AgentFaults
from agentquest.version import __version__


@dataclass(frozen=True)
class Choice:
    """Something from the registry and its settings, as plain data."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunContext:
    """What every episode of a run has in common, and what produced its records."""

    run_id: str
    config_hash: str
    benchmark: Choice
    agent: Choice
    agent_name: str | None = None  # as records show it; None: that of the choice
    model: Choice | None = None
    model_name: str | None = None  # as records show it; None for an agent that asks none
    model_seed: int | None = None
    max_steps: int = 50
    step_timeout_s: float | None = None
    agent_faults: AgentFaults = AgentFaults.OWE
    save_prompts: bool = True
    show_prompts: bool = False  # whether watchers are sent prompts too
    versions: Mapping[str, str] = field(default_factory=lambda: versions())


@dataclass(frozen=True)
class EpisodeSpec:
    """One episode to be played."""

    context: RunContext
    task: Task
    trial: int = 0
    seed: int = 0

    @property
    def key(self) -> str:
        """What the episode is called in records: its task and trial."""
        return episode_key(self.task.id, self.trial)


def versions() -> dict[str, str]:
    """The versions that decide what a record says."""
    return {"agentquest": __version__, "python": platform.python_version()}
