"""What tries to cheat critics: the catalogue, the audit that runs it, and the conformance kit for critics of others."""
