"""Typed, versioned records of what happened; no files."""
