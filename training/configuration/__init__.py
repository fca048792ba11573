"""Configurations that a user writes in YAML: frozen models in which an unknown key is an error."""
