"""The rule-based shopper: reads only what an LLM would read."""
