"""Loaders of published files: one module for each data set, on the shared reader of `records`."""
