"""One folder a benchmark, with the same file names in each."""
