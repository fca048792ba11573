"""Instruments of the authors: run in a checkout with `python -m tools.NAME`, not part of the installed package."""
