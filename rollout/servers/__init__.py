"""Policies that write on somebody else's machine: any server that speaks OpenAI's protocol."""
