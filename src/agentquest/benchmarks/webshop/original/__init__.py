"""The original's web pages to the letter: for the `html` observation and for scrapers.

links     addresses, as the original's two applications write them
html      the pages
literals  reading lists and dictionaries out of addresses
"""
