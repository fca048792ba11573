"""The actor-critic dialog of LLM-ARC: its prompt, its feedback, its turns."""
