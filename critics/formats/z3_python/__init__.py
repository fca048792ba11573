"""The critic of `z3-python` scripts: an interpreter of a small part of Python, in a jail, and what its log proves."""
