"""The command line: the only place that prints.

Every command lives in a module of its own, imported when it is called, so that
`agentquest --help` answers at once.
"""

from agentquest.cli.app import main

__all__ = ["main"]
