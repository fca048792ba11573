"""What a user writes in a YAML file: frozen models in which an unknown key is an error."""
