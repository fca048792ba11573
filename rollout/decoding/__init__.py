"""Decoding: what a policy writes, token by token, under a guide or without one."""
