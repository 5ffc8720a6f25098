"""Products: from the official files, or built in, to a memory-mapped folder."""
