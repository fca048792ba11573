"""Prompts: what a policy reads, and the worked examples that it is shown."""
