"""What an agent tells its model about a reply that was not an answer."""

from agentquest.llms.types import Reply, ReplyKind

_TOLD = {
    ReplyKind.TRUNCATED: "Your reply was cut off at the limit of its length before it was complete,"
    " so nothing was done. Answer more briefly.",
    ReplyKind.EMPTY: "Your reply was empty, so nothing was done.",
    ReplyKind.REFUSED: "Your reply was a refusal or was blocked, so nothing was done.",
}
_ONLY_THOUGHTS = "Your reply held only thoughts and no answer, so nothing was done."


def told_of(reply: Reply, otherwise: str) -> str:
    """Why nothing was done; `otherwise` is for a complete reply that holds no action."""
    if reply.kind is ReplyKind.EMPTY and reply.reasoning:
        return _ONLY_THOUGHTS
    return _TOLD.get(reply.kind, otherwise)


def said_in(reply: Reply) -> str:
    """The words of a reply for the record: of a refusal, its text."""
    return reply.text or reply.refusal
