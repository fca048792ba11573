"""A run: lines of rounds, and each stage of a round."""
