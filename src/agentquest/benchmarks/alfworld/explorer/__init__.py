"""The rule-based player: reads only what an LLM would read."""
