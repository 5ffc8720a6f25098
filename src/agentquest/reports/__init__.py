"""Reports: text, tables and pictures made from records."""
