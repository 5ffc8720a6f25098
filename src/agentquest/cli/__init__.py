"""The command line.

Every command lives in a module of its own, imported when it is called, so that
`agentquest --help` answers at once.
"""

import gc
import sys

from agentquest.safe_text import clean_messages


def main(args: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    # Imports make many objects and hardly any cycles: to look for those took a tenth of the start.
    gc.set_threshold(50_000)
    if args is None:
        clean_messages()  # before typer is imported, which keeps the hooks that it finds
    try:
        # Imported here, so that Ctrl-C exits cleanly even while imports are running.
        from agentquest.cli.app import main as run

        run(args)
    except KeyboardInterrupt:
        sys.exit(130)


__all__ = ["main"]
