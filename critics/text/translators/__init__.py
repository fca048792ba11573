"""Deterministic translators from a data set's regular English into the formal language.

A translator is the reference against which an attempt's own formalisation is checked, so it refuses
whatever it does not know: a sentence passed over or misread would make a false certificate.
"""
