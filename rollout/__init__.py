"""Rollout asks a policy for attempts; nothing here knows whether an attempt is any good."""
