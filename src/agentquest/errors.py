"""Every error AgentQuest raises. records.outcome says what an end means for a score.

AgentQuestError
├── UserError            the caller gave something wrong; the text says what and where
│   ├── DataError        a data file is missing, malformed or not understood
│   ├── ConfigError      a configuration value is wrong
│   └── UnknownName      a name that is in no table; suggests the nearest
├── ParseError           an agent's answer could not be read; the agent may try again
├── ModelError           a model call failed for good (see agentquest.llms)
│   └── ContextExceeded  the prompt is longer than the model can read
└── NetworkError         a transfer failed; nothing that had arrived is lost
"""


class AgentQuestError(Exception):
    """Base of all errors raised on purpose."""


class UserError(AgentQuestError):
    """Something the caller can fix; shown without a traceback."""


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


class ContextExceeded(ModelError):
    """The prompt no longer fits the model's context: a truncation, not a failure."""


class NetworkError(AgentQuestError):
    """A download or request failed; what had arrived is kept."""


def explain(error: BaseException) -> str:
    """An error on one line; the text of one that was not raised on purpose says little alone."""
    try:
        text = str(error)
    except BaseException:  # an exception of the user's own may raise anything when it is read
        text = ""
    if isinstance(error, AgentQuestError):
        return text
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
