"""Commands of ALFWorld for the command line."""
