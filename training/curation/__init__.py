"""Curation: choosing the judged traces that become training data, and what a proof allows beyond choosing."""
