"""What a child of a script on AgentQuest's engines imports as `alfworld`."""

from agentquest.adapters.stand_ins import become

become(__name__, webshop=False)
