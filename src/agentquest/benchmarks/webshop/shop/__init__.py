"""The shop as a state machine: goals, pages, reward."""
