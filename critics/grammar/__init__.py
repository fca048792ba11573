"""One grammar of English over its function words: a sentence of any topic becomes a formula, or is refused."""
