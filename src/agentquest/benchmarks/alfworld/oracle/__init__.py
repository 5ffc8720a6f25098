"""The shortest plan from any state."""
