"""Records of attempts: traces, their steps, digests and splits."""
