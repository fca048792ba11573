"""Cursor over tokens, the base of readers that descend from the weakest operator to the strongest, and their error."""

from collections.abc import Sequence


class ReasonedError(ValueError):
    """A text is not of its language: `reason` is one machine-readable word, the message says where and why."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class TokenCursor:
    """A place in a list of tokens; beyond the end every token is the empty text."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens, self.at = tokens, 0

    def peek(self, ahead: int = 0) -> str:
        """Return the next token, or one further on, without passing it."""
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def take(self) -> str:
        """Return the next token and pass it."""
        token = self.peek()
        self.at += 1
        return token

    def takes(self, *wanted: str) -> bool:
        """Pass the next token if it is one of those wanted; say whether it was."""
        found = self.peek() in wanted
        self.at += found
        return found

    def expect(self, wanted: str) -> None:
        """Pass the next token; raises `fault` where it is another one."""
        if self.take() != wanted:
            raise self.fault(f"{wanted!r} is missing")

    def end(self) -> None:
        """Raise `fault` unless everything is read."""
        if self.peek():
            raise self.fault(f"unexpected {self.peek()!r}")

    def fault(self, why: str) -> ValueError:
        """Return the error of a text that cannot be read."""
        return ValueError(why)
