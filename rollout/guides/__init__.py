"""The guides: one module for each (LogicGuide's paper, section 3.3, section 3.4 and appendix B)."""
