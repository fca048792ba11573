"""Formulas and regular expressions generated from grammars: what models put into words and back (AutoEval)."""
