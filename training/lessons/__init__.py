"""Lessons of kept traces: prompts, completions and where the loss is."""
