"""Where an adapter comes from: examples, traces, certificates, problems, and what sampled them; and revoking."""
