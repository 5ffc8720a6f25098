"""ALFWorld, natively."""
