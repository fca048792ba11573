"""Puzzles that put things into places, read from their text: the reference that programs on trust are laid beside."""
