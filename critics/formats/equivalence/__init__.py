"""The critic of `equivalence` attempts: whether two formulas, or two regular expressions, mean the same."""
