"""Re-checks programs over finite sorts: solutions and models by evaluation, what has none by trying everything."""
