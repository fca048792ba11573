"""Tiny random models of real architectures, and what each of them is put through."""
