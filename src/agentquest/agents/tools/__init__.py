"""The tool-calling agent: the benchmark's actions as tools of the model's own API."""
