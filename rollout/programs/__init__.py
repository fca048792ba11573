"""Strategies that ask for solver programs, and what goes wrong with what they get."""
