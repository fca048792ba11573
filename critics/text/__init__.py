"""English: reading what problems and attempts say, and comparing it with formulas."""
