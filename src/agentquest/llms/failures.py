"""How a model call fails for good, and how a key stays out of what is said about it.

    ModelError
    └── ModelFailure            status, attempts and a short message
        ├── AuthenticationFailed   401, 403: the key is missing, wrong or not allowed
        ├── QuotaExhausted         402, or 429 for an account that is out of credit
        ├── ContextTooLong         the prompt does not fit the model
        ├── BadRequest             400, 404, 422 …: asking again cannot help
        ├── ModelUnavailable       retries or time ran out on failures that can pass
        └── CostLimitReached       the run has spent what it was allowed to

`Transient` is the signal inside this package that a try failed in a way that
can pass; it never leaves it.
"""

from agentquest.errors import AgentQuestError, ModelError

_SHORT = 300


class ModelFailure(ModelError):
    """A call that will not be tried again."""

    def __init__(self, message: str, *, status: int | None = None, attempts: int = 1) -> None:
        super().__init__(message)
        self.status = status
        self.attempts = attempts


class AuthenticationFailed(ModelFailure):
    """The server does not accept the key."""


class QuotaExhausted(ModelFailure):
    """The account has no credit left; waiting does not bring any."""


class ContextTooLong(ModelFailure):
    """Prompt and answer do not fit the model's context."""


class BadRequest(ModelFailure):
    """The server will never answer this request."""


class ModelUnavailable(ModelFailure):
    """The server did not answer properly within the retries and the time allowed."""


class CostLimitReached(ModelFailure):
    """The money set aside for the run is spent."""


class Transient(AgentQuestError):
    """One try failed in a way that can pass."""

    def __init__(
        self, message: str, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class Redactor:
    """Removes a key from text that others wrote.

    Errors are cleaned of any key. Replies are cleaned only of keys long enough
    to be secrets: servers without a key are often given words like `EMPTY`,
    and an answer may well contain those.
    """

    __slots__ = ("_key", "_secret")

    SECRET_LENGTH = 12
    MASK = "***"

    def __init__(self, key: str) -> None:
        self._key = key
        self._secret = key if len(key) >= self.SECRET_LENGTH else ""

    def error(self, text: str) -> str:
        """`text` without the key, on one line, and short; cut only after cleaning."""
        if self._key:
            text = text.replace(self._key, self.MASK)
        text = " ".join(text.split())
        return text if len(text) <= _SHORT else text[:_SHORT] + "…"

    def reply(self, text: str) -> str:
        if self._secret and self._secret in text:
            return text.replace(self._secret, self.MASK)
        return text
