"""How a model call fails for good; records name the class.

`Transient` is the signal inside this package that an attempt failed for a reason that may
pass; it never leaves the package.
"""

from agentquest.errors import AgentQuestError, ContextExceeded, ModelError


class ModelFailure(ModelError):
    """A call that failed for good."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class AuthenticationFailed(ModelFailure):
    """401, 403: the key is missing, wrong or not allowed."""


class QuotaExhausted(ModelFailure):
    """402, or 429 for an account that is out of credit: waiting does not help."""


class ContextTooLong(ModelFailure, ContextExceeded):
    """Prompt and answer do not fit the model's context, as its server said."""


class BadRequest(ModelFailure):
    """400, 404, 422 …: the server will never answer this request."""


class ModelUnavailable(ModelFailure):
    """The server did not answer properly within the retries and the time allowed."""


class ServerAway(ModelUnavailable):
    """The server answered before and has been down for longer than we wait."""


class Transient(AgentQuestError):
    """One attempt failed for a reason that may pass.

    `unreachable`: no connection was made. `away`: the server answered before, so that it is
    worth waiting for; the client sets this. Neither such a failure nor one that tells us to
    wait uses up a retry, unless it is `unreasonable`: it asks for more time than there is.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        unreachable: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.unreachable = unreachable
        self.unreasonable = self.away = False

    @property
    def told_to_wait(self) -> bool:
        """Whether the server asked us to come back later."""
        return self.status == 429 or self.retry_after is not None

    def doubt(self, longest_s: float) -> None:
        """Disregard a wait that is longer than this."""
        if self.retry_after is not None and self.retry_after > longest_s:
            asked = f"asks for a wait of {self.retry_after:.0f} s"
            self.args = (f"{self} ({asked}, which llm.deadline_s does not allow)",)
            self.retry_after, self.unreasonable = None, True
