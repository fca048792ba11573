"""Reader of regular English: sentences of a text as units, and the ledger of what was established."""
