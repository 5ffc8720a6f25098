"""Runs in the formats of other people's tools."""
