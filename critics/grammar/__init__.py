"""One grammar of English over its function words: a sentence of any topic becomes a first-order formula, or is refused."""
