"""What a run will cost before it is launched, on this machine and on many."""
