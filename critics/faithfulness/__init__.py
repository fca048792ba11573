"""Whether a formalisation taken on trust speaks of the question: cheap checks that need no translator."""
