"""Policies: Hugging Face models, scripts for tests, and what asks them in batches."""
