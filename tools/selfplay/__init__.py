"""Adversarial self-play: a search for wrong answers that are certified, or with certificates that fail."""
