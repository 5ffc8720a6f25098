"""What a model call took, as records show it."""

from agentquest.llms.types import ChatModel, Reply
from agentquest.records.episode import Call


def call_of(model: ChatModel, reply: Reply) -> Call:
    """The reply's tokens, time and tries, with its cost at the model's price."""
    return Call(
        model=reply.model,
        kind=reply.kind.value,
        usage=reply.usage,
        cost=reply.cost_at(model.price),
        latency_s=reply.latency_s,
        attempts=reply.attempts,
        cached=reply.cached,
    )
