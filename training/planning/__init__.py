"""Plans of a run before it is launched: its cost, and what it can find."""
