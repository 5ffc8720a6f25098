"""What a child of a script on AgentQuest's engines imports as `webshop_minimal`."""

from agentquest.adapters.stand_ins import become

become(__name__, alfworld=False)
