"""AgentQuest's games behind other people's interfaces: the only room that knows foreign APIs.

Each module speaks one of them, over `agentquest.lib.Session` and `SessionVector`.
What needs a foreign package imports it in its own module, and each such package
is an extra of its own; docs/environments.md shows how each is used.
"""

from agentquest.adapters.stand_ins import dropin

__all__ = ["dropin"]
