"""The command line as documented: `python main.py launch`, `green`, `white`, `info`."""

import sys

try:
    from agentquest.cli import main
except ModuleNotFoundError as error:
    sys.exit(f"{error}: `make install` installs AgentQuest, `source .venv/bin/activate` uses it")

if __name__ == "__main__":
    main()
