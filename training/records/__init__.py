"""JSON lines that survive a crash, open, sealed and packed."""
