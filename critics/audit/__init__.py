"""Audit of critics: a catalogue of cheats, and the audit that runs it."""
