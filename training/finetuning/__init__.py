"""From a dataset to an adapter, with transformers' Trainer."""
