"""Agents without a model: the upper and lower bound, and the baseline between them."""
