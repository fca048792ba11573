"""Lineage of an adapter: examples, traces, certificates, problems, and what sampled them; and revoking."""
