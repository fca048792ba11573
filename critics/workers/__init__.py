"""Worker processes that can be killed, and limits on their own time."""
