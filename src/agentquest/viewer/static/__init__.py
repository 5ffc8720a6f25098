"""What the pages load: one style sheet, one script, one icon."""
