"""The format `csp`: Logic-LM's language for constraint problems, judged by finite-domain search."""
