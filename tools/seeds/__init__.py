"""Recipes of the embedded seed models: small models trained from scratch (`python -m tools.seeds`)."""
