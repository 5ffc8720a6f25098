"""Metrics: small pure functions of records."""
