"""WebShop over HTTP: the documented routes for agents, a web site for people.

Needs the extra `serve`; nothing else in AgentQuest imports this package.
"""
