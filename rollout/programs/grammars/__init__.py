"""What a policy may write next of a program, so that it always parses: one language of pieces for each format."""
