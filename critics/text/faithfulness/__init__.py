"""Checks, without a translator, that a formalisation taken on trust speaks of the question."""
