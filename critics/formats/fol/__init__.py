"""The format `fol`: premises and a conclusion in first-order logic (Logic-LM, FOLIO, LINC)."""
