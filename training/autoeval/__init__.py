"""AutoEval: round trips of generated formulas, their scores and what they predict."""
