"""Refusals of what nobody could compare with the text: programs that would be certified of any problem."""
