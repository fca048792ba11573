"""The guides: one module for each (paper 004, section 3.3, section 3.4 and appendix B)."""
