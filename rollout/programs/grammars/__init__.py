"""Grammars of programs: the pieces that may come next so that a program always parses, one language for each format."""
