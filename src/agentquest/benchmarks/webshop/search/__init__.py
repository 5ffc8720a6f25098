"""Ranking products for a query, with Lucene's numbers."""
