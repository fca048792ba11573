"""Formats of attempts: one folder each, found by name and loaded when it is used."""
