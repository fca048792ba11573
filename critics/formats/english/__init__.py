"""The format `english`: a chain of thought in regular English, judged sentence by sentence without a model."""
