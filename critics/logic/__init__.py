"""Logics: terms, readers, solvers and decision procedures that several formats share."""
