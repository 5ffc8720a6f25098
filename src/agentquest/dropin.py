"""Run a script that was written for ALFWorld or WebShop on AgentQuest's engines, unchanged.

    python -m agentquest.dropin SCRIPT [ARGUMENTS …]
    python -m agentquest.dropin -m MODULE [ARGUMENTS …]

Its imports of `alfworld`, `textworld` and `web_agent_site` get our stand-ins;
`ALFWORLD_DATA=builtin` plays the built-in homes without data.
"""

import runpy
import sys
from pathlib import Path

from agentquest.adapters import dropin
from agentquest.errors import UserError
from agentquest.safe_text import say


def main(arguments: list[str]) -> int:
    """Run the script as if it had been called itself."""
    as_module = arguments[:1] == ["-m"]
    given = arguments[1:] if as_module else arguments
    if not given or given[0] in ("-h", "--help"):
        say(__doc__ or "")
        return 0 if given else 2
    target = given[0]
    if not as_module and not Path(target).is_file():
        say(f"agentquest.dropin: no such script: {target}", err=True)
        return 2
    try:
        dropin()
    except UserError as error:
        say(f"agentquest.dropin: {error}", err=True)
        return 2
    sys.argv[:] = given
    if as_module:
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(target, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(target).resolve().parent))
        runpy.run_path(target, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
