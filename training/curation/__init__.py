"""Which judged traces become training data, and what a proof allows beyond choosing."""
