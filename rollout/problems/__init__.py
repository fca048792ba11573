"""Problem generators: one family a file; item i depends only on (seed, split, i)."""
