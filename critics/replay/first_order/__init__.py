"""Re-checks entailments in first-order logic: models by evaluation, what has none by a second solver."""
