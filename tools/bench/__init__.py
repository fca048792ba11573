"""Benches of the engines: ratios against named baselines, for the authors (`python -m tools.bench NAME`)."""
