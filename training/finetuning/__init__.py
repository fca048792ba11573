"""Fine-tuning: a dataset in, an adapter out, with transformers' Trainer."""
