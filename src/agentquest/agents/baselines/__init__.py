"""Players without a model: the bounds and the honest middle."""
