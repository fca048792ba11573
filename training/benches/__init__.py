"""One file for each bench; `training.bench` lists them."""
