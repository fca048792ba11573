"""First-order logic: one syntax tree, its readers and printers, and its solvers."""
