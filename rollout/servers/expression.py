"""Patterns taken further: what is left of one after some bytes, and its form in the languages that servers read.

A server constrains a whole reply, and not the rest of a block that was begun. So the block's pattern is differentiated
by what is already written of it (Brzozowski, 1964), and the server is asked to keep to the rest.
"""

from collections.abc import Callable, Iterable

from rollout.decoding.automaton import Pattern, choice, literal, repeat, sequence

_EMPTY = literal("")
_REGEX_SPECIAL = frozenset(r"\.^$*+?()[]{}|")
_CLASS_SPECIAL = frozenset(r"\]^-[")


def any_of(words: Iterable[bytes]) -> Pattern:
    """Match one of the words."""
    return choice(*(Pattern("bytes", text=word) for word in words))


def after(pattern: Pattern, typed: bytes) -> Pattern | None:
    """Return what may follow `typed`, or None where nothing of the pattern begins so."""
    rest: Pattern | None = pattern
    for byte in typed:
        rest = None if rest is None else _derivative(rest, byte)
    return rest


def may_be_empty(pattern: Pattern) -> bool:
    """Say whether the pattern matches nothing at all, too."""
    match pattern.kind:
        case "bytes":
            return not pattern.text
        case "sequence":
            return all(map(may_be_empty, pattern.parts))
        case "choice":
            return any(map(may_be_empty, pattern.parts))
        case "repeat":
            return may_be_empty(pattern.parts[0])
        case _:
            return False


def first_bytes(pattern: Pattern) -> set[int]:
    """Return the bytes that a match can begin with."""
    match pattern.kind:
        case "bytes" | "chars":
            return set(pattern.text[:1] if pattern.kind == "bytes" else pattern.text)
        case "sequence":
            found: set[int] = set()
            for part in pattern.parts:
                found |= first_bytes(part)
                if not may_be_empty(part):
                    break
            return found
        case _:
            return set[int]().union(*map(first_bytes, pattern.parts))


def forced(pattern: Pattern) -> bytes:
    """Return the bytes that every match begins with, as far as there is one way to go on."""
    written = bytearray()
    rest: Pattern | None = pattern
    while rest is not None and not may_be_empty(rest) and len(first := first_bytes(rest)) == 1:
        written += bytes(first)
        rest = _derivative(rest, first.pop())
    return bytes(written)


def words_of(pattern: Pattern, most: int) -> list[bytes] | None:
    """Return all that the pattern matches, sorted; None where that is more than `most` words."""
    found = _words(pattern, most)
    return None if found is None else sorted(found)


def _words(pattern: Pattern, most: int) -> set[bytes] | None:
    match pattern.kind:
        case "bytes":
            return {pattern.text}
        case "chars":
            return {bytes([byte]) for byte in pattern.text}
        case "sequence":
            found = _product(pattern.parts, most)
        case "choice":
            found = _union(pattern.parts, most)
        case _:
            part = pattern.parts[0]
            longer = repeat(part, most=pattern.most - 1)
            steps = (part, choice(_EMPTY, longer)) if pattern.most > 1 else (part,)
            found = None if pattern.most == 0 else _product(steps, most)
    return None if found is None or len(found) > most else found


def _union(parts: Iterable[Pattern], most: int) -> set[bytes] | None:
    found: set[bytes] = set()
    for part in parts:
        more = _words(part, most)
        if more is None:
            return None
        found |= more
    return found


def _product(parts: Iterable[Pattern], most: int) -> set[bytes] | None:
    found = {b""}
    for part in parts:
        more = _words(part, most)
        if more is None or len(found) * len(more) > most:
            return None
        found = {before + behind for before in found for behind in more}
    return found


def _derivative(pattern: Pattern, byte: int) -> Pattern | None:
    match pattern.kind:
        case "bytes":
            return Pattern("bytes", text=pattern.text[1:]) if pattern.text[:1] == bytes([byte]) else None
        case "chars":
            return _EMPTY if byte in pattern.text else None
        case "sequence":
            return _after_first(pattern.parts, byte)
        case "choice":
            return _one_of(rest for part in pattern.parts if (rest := _derivative(part, byte)) is not None)
        case _:
            part, most = pattern.parts[0], pattern.most
            rest = _derivative(part, byte)
            more = _EMPTY if most == 1 else choice(_EMPTY, repeat(part, most=max(most - 1, 0)))
            return None if rest is None else _joined(rest, more)


def _after_first(parts: tuple[Pattern, ...], byte: int) -> Pattern | None:
    """Differentiate a sequence: in its first part, and behind it where that part may be empty."""
    ways: list[Pattern] = []
    for place, part in enumerate(parts):
        rest = _derivative(part, byte)
        if rest is not None:
            ways.append(_joined(rest, *parts[place + 1 :]))
        if not may_be_empty(part):
            break
    return _one_of(ways)


def _one_of(ways: Iterable[Pattern]) -> Pattern | None:
    different = tuple(dict.fromkeys(ways))
    return None if not different else different[0] if len(different) == 1 else choice(*different)


def _joined(*parts: Pattern) -> Pattern:
    kept: list[Pattern] = []
    for part in parts:
        kept += part.parts if part.kind == "sequence" else () if part == _EMPTY else (part,)
    return kept[0] if len(kept) == 1 else sequence(*kept) if kept else _EMPTY


def regex(pattern: Pattern) -> str:
    """Return the pattern as a regular expression without anchors.

    Only groups, classes, `|`, `?`, `+` and `{1,n}` are used: what every engine behind a server reads alike.
    """
    return _written(pattern, lambda text: "".join(f"\\{c}" if c in _REGEX_SPECIAL else c for c in text), "")


def grammar(pattern: Pattern, *, goes_on: bool = False) -> str:
    """Return the pattern, with any text behind it where that `goes_on`, as one rule in GGML's notation (llama.cpp)."""
    rest = ' ([^\\n] | "\\n")*' if goes_on else ""
    return f"root ::= {_written(pattern, _quoted, ' ')}{rest}\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _written(pattern: Pattern, spell: Callable[[str], str], space: str) -> str:
    """Return the pattern with `spell` for its texts and `space` between its parts."""
    match pattern.kind:
        case "bytes":
            return spell(pattern.text.decode())
        case "chars":
            return _char_class(pattern)
        case "sequence":
            return space.join(_written(part, spell, space) for part in pattern.parts)
        case "choice":
            parts = [_written(part, spell, space) for part in pattern.parts if part != _EMPTY]
            optional = "?" if _EMPTY in pattern.parts else ""
            return f"({f'{space}|{space}'.join(parts)}){optional}" if parts else spell("")
        case _:
            return f"({_written(pattern.parts[0], spell, space)}){_repeats(pattern)}"


def _repeats(pattern: Pattern) -> str:
    return f"{{1,{pattern.most}}}" if pattern.most else "+"


def _char_class(pattern: Pattern) -> str:
    """Return `[a-z_]` and the like; neighbours of three and more are written as a range."""
    runs: list[list[int]] = []
    for code in sorted(set(pattern.text)):
        if runs and code == runs[-1][-1] + 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    return f"[{''.join(map(_run, runs))}]"


def _run(codes: list[int]) -> str:
    shown = [f"\\{chr(code)}" if chr(code) in _CLASS_SPECIAL else chr(code) for code in codes]
    return f"{shown[0]}-{shown[-1]}" if len(shown) > 2 else "".join(shown)


def heads(pattern: Pattern, end: bytes, most: int) -> list[bytes] | None:
    """Return what matches can begin with, up to and including the first byte `end`; None beyond `most` of them."""
    found: list[bytes] = []
    waiting = [(b"", pattern)]
    while waiting:
        if len(found) + len(waiting) > most:
            return None
        read, rest = waiting.pop()
        for byte in first_bytes(rest):
            further = _derivative(rest, byte)
            if further is not None:
                word = read + bytes([byte])
                found += [word] if word.endswith(end) else []
                waiting += [] if word.endswith(end) else [(word, further)]
    return sorted(found)
