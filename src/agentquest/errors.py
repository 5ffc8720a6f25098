"""Every error AgentQuest raises, and what each failure means for a score.

    AgentQuestError
    ├── UserError            the caller gave something wrong; the text says what and where
    │   ├── DataError        a data file is missing, malformed or not understood
    │   ├── ConfigError      a configuration value is wrong
    │   └── UnknownName      a name that is in no table; suggests the nearest
    ├── ParseError           an agent's answer could not be read; the agent may try again
    ├── ModelError           a model call failed for good (see agentquest.llms)
    └── NetworkError         a transfer failed; nothing that had arrived is lost

A failure is a *score* only when it is the agent's own. `Cause` says so once,
for records, resume and reports alike.
"""

from enum import Enum


class AgentQuestError(Exception):
    """Base of all errors raised on purpose."""


class UserError(AgentQuestError):
    """Something the caller can mend; shown without a traceback."""


class DataError(UserError):
    """A data file is missing, malformed, or of a kind we do not understand."""


class ConfigError(UserError):
    """A configuration value is wrong; the message names its path."""


class UnknownName(UserError):
    """A name that no registry table has."""


class ParseError(AgentQuestError):
    """An agent's answer could not be read as an action."""


class ModelError(AgentQuestError):
    """A model call failed and will not be tried again."""


class NetworkError(AgentQuestError):
    """A download or request failed; what had arrived is kept."""


class Cause(str, Enum):
    """Why an episode ended. The value is what records store."""

    WON = "won"
    LOST = "lost"
    MAX_STEPS = "max_steps"
    AGENT_GAVE_UP = "agent_gave_up"
    AGENT_ERROR = "agent_error"
    AGENT_TIMEOUT = "agent_timeout"
    MODEL_ERROR = "model_error"
    ENVIRONMENT_ERROR = "environment_error"
    CANCELLED = "cancelled"

    @property
    def scored(self) -> bool:
        """True when the end says something about the agent, so that it counts."""
        return self in _SCORED

    @property
    def owed(self) -> bool:
        """True when the episode must be run again: nothing was learnt about the agent."""
        return not self.scored


_SCORED = frozenset({Cause.WON, Cause.LOST, Cause.MAX_STEPS, Cause.AGENT_GAVE_UP})
