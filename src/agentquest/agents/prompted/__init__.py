"""An agent whose prompt, turns and reading are the user's: for published settings."""
