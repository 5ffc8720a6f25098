"""AgentQuest's games behind other people's interfaces: the only room that knows foreign APIs.

Each module speaks one of them, over `agentquest.lib.Session` and `SessionVector`.
What needs a foreign package imports it in its own module, and each such package
is an extra of its own; docs/environments.md shows how each is used.
"""


def dropin(alfworld: bool = True, webshop: bool = True) -> None:
    """From now on `import alfworld`, `textworld` and `web_agent_site` get AgentQuest's engines.

    Only what asks for it is changed: nothing is installed, and the packages of
    these names, where there are any, stay as they are on disk.
    """
    from agentquest.adapters.foreign_modules import install

    install(alfworld=alfworld, webshop=webshop)


__all__ = ["dropin"]
