"""Running episodes: one, assembled by name, or many."""
