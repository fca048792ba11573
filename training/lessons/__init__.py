"""What a kept trace teaches: prompts, completions and where the loss is."""
