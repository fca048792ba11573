"""The second opinion on equivalences: the standard library only, and no code of the critic."""
