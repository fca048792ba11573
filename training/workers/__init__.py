"""Workers that sample and judge: processes of this machine, or those of a cluster."""
