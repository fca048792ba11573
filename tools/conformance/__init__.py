"""The original LogicGuide, bugs included: what conformance with its recorded runs is measured against."""
