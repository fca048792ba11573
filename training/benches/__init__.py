"""Parts of `certistar bench gpu`: what a machine with one GPU does, measured."""
