"""Audit of critics: a catalogue of cheats, the audit that runs it, and the conformance kit for others' critics."""
