"""Parts of `certistar bench gpu` that need a clone of the repository, and the page docs/gpu.md."""
