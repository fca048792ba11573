"""The format `arithmetic`: worked word problems, whose equations are all computed again."""
