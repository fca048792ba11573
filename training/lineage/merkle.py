"""Merkle trees as in RFC 6962: one digest for a list of lines, and a short proof that a line is in it.

Leaves and inner nodes are hashed differently, so that no inner node can be passed off as a leaf, and the proof says
at which place of how many the line stands. Standard library only.
"""

import hashlib
from collections.abc import Sequence

EMPTY = hashlib.sha256(b"").hexdigest()
"""The root of no line at all."""


def leaf(line: bytes) -> bytes:
    """Return a line's hash."""
    return hashlib.sha256(b"\x00" + line).digest()


def root(leaves: Sequence[bytes]) -> str:
    """Return the root of the hashes of lines, in hexadecimal digits."""
    return _root(leaves).hex() if leaves else EMPTY


def inclusion(leaves: Sequence[bytes], place: int) -> list[str]:
    """Return the proof that the line at `place` (from 0) is in the tree: the siblings from the leaf upwards."""
    if not 0 <= place < len(leaves):
        raise IndexError(f"there is no leaf {place} among {len(leaves)}")
    if len(leaves) == 1:
        return []
    half = _split(len(leaves))
    if place < half:
        return [*inclusion(leaves[:half], place), _root(leaves[half:]).hex()]
    return [*inclusion(leaves[half:], place - half), _root(leaves[:half]).hex()]


def is_included(line: bytes, place: int, num: int, siblings: Sequence[str], expected: str) -> bool:
    """Say whether a line is at `place` of `num` in the tree with the root `expected`; false for an ill-formed proof."""
    if not 0 <= place < num:
        return False
    try:
        return _climbed(leaf(line), place, num, [bytes.fromhex(sibling) for sibling in siblings]).hex() == expected
    except ValueError:
        return False


def _climbed(node: bytes, place: int, num: int, siblings: list[bytes]) -> bytes:
    """Return the root above a node; raises `ValueError` where the siblings are too few or too many."""
    if num == 1:
        if siblings:
            raise ValueError("more siblings than levels")
        return node
    if not siblings:
        raise ValueError("fewer siblings than levels")
    half, (*lower, sibling) = _split(num), siblings
    if place < half:
        return _node(_climbed(node, place, half, lower), sibling)
    return _node(sibling, _climbed(node, place - half, num - half, lower))


def _root(leaves: Sequence[bytes]) -> bytes:
    if len(leaves) == 1:
        return leaves[0]
    half = _split(len(leaves))
    return _node(_root(leaves[:half]), _root(leaves[half:]))


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def _split(num: int) -> int:
    """Return the largest power of two below `num`."""
    return 1 << ((num - 1).bit_length() - 1)
