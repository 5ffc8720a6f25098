"""How replies are read: as a person would, by tags, as a line, as JSON, as a tool call."""
