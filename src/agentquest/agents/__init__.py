"""Agents: what answers an observation with an action."""
