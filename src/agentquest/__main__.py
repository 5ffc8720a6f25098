"""`python -m agentquest` is the command line."""

from agentquest.cli import main

if __name__ == "__main__":
    main()
