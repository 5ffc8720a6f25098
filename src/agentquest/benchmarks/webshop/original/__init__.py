"""The original's web pages to the letter: for the `html` observation and for scrapers."""
