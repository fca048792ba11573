"""Programs over finite sorts: declarations, expressions, grounding and solving."""
