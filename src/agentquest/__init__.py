"""AgentQuest: how good is an LLM agent at acting over many turns?

Nothing is imported here on purpose: `agentquest --help` and a driver in a
training loop must both start at once.
"""

__version__ = "0.1.0"
