"""`certistar bench gpu`: one command that qualifies a machine with one GPU, on random weights alone."""
