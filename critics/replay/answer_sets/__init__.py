"""The second opinion on answer set programs: the standard library only, and no code of the critic."""
