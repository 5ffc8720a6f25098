"""The ReAct agent: a thought and an action for every prompt."""
