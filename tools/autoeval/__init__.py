"""Instruments of AutoEval's paper that only its readers need: other figures, FOLIO's premises, what scores predict."""
