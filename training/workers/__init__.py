"""Who samples and who judges: processes of this machine, or those of a cluster."""
