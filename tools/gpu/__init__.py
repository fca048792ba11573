"""`certistar bench gpu`: its parts, each in a process of its own, and the page docs/gpu.md."""
