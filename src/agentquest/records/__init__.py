"""Versioned records of what happened; the only place that writes run files."""
