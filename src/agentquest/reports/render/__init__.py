"""One module per format; each only lays out what the report model holds."""
