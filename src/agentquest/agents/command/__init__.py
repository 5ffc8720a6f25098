"""Any program as an agent: JSON lines on its standard input and output."""
