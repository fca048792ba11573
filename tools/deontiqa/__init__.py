"""DeontiQA as published: its Peano sources, read and repaired, become problem records."""
