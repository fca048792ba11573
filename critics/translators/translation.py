"""What every translator promises: a formalisation of the whole text, or an error that names the sentence."""

from collections.abc import Callable
from typing import TypeAlias

from critics.problem import Formal

Translator: TypeAlias = Callable[[str, str], Formal]
"""Context and question in, `Formal` out; raises `TranslationError` for a text outside the language."""


class TranslationError(ValueError):
    """The text is outside the language; `sentence` is the first sentence that is."""

    def __init__(self, sentence: str, why: str) -> None:
        super().__init__(f"{sentence!r}: {why}")
        self.sentence = sentence
