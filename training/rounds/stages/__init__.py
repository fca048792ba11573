"""The stages of a round, each of which looks for its own last file first: done is done."""
