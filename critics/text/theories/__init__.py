"""Typed theories that data sets take for granted: their symbols with sorts, and the rules that nobody states."""
