"""First-order logic: one syntax tree, one parser for what people and models write, entailment, and the `fol` critic."""
