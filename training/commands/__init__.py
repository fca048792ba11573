"""The commands that work on files, a module for each arrow: read, do, write, say what was done."""
