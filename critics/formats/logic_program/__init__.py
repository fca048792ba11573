"""The format `logic-program`: Logic-LM's language for AR-LSAT, judged by Z3."""
