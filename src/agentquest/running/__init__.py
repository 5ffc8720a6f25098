"""Running episodes: as a spec, one, or many, on an executor."""
