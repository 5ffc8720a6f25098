"""How an episode ended, and whether that is a score. Decided here and nowhere else.

    solved               the task is done                                   a score
    failed               the environment ended the episode unsolved         a score
    step_limit           truncated: the steps ran out                       a score
    context_limit        truncated: the prompt no longer fits the model     a score
    gave_up              the agent said that it stops                       a score
    agent_fault          the agent crashed or did not answer in time        by policy
    infrastructure_fault a model server, network or environment failed      played again
    cancelled            somebody stopped the run                           played again

What is played again said nothing about the agent; until then the episode is pending.
Under `agent_faults: lose` an agent that crashes loses the game, so that no agent
can crash its way out of games it would lose; under `owe` the crash is taken for
a bug that its author will fix.
"""

from enum import Enum


class End(str, Enum):
    """Why an episode ended. The value is what records store."""

    SOLVED = "solved"
    FAILED = "failed"
    STEP_LIMIT = "step_limit"
    CONTEXT_LIMIT = "context_limit"
    GAVE_UP = "gave_up"
    AGENT_FAULT = "agent_fault"
    INFRASTRUCTURE_FAULT = "infrastructure_fault"
    CANCELLED = "cancelled"

    @property
    def truncated(self) -> bool:
        """Whether the episode was cut off, rather than decided."""
        return self in (End.STEP_LIMIT, End.CONTEXT_LIMIT)


class AgentFaults(str, Enum):
    """What happens to an episode whose agent crashed or did not answer."""

    LOSE = "lose"
    OWE = "owe"


MEANINGS = {
    End.SOLVED: "task solved",
    End.FAILED: "ended unsolved",
    End.STEP_LIMIT: "step limit reached",
    End.CONTEXT_LIMIT: "prompt no longer fits the model's context",
    End.GAVE_UP: "agent gave up",
    End.AGENT_FAULT: "agent crashed or did not answer",
    End.INFRASTRUCTURE_FAULT: "model server or environment failed",
    End.CANCELLED: "stopped half-way",
}

_SCORES = frozenset({End.SOLVED, End.FAILED, End.STEP_LIMIT, End.CONTEXT_LIMIT, End.GAVE_UP})


def is_scored(end: End, agent_faults: AgentFaults) -> bool:
    """Whether such an end says something about the agent."""
    if end is End.AGENT_FAULT:
        return agent_faults is AgentFaults.LOSE
    return end in _SCORES
