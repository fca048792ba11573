"""The format `rules`: Logic-LM's language for ProntoQA and ProofWriter, judged by forward chaining."""
