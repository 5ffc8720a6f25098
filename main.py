"""The command line as documented: `python main.py launch`, `green`, `white`, `info`."""

from agentquest.cli import main

if __name__ == "__main__":
    main()
