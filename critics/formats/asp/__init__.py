"""The critic of answer set programs with tests and a query (LLM-ARC), and the checker of its certificates."""
