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


def _root(leaves: Sequence[bytes]) -> bytes:
    if len(leaves) == 1:
        return leaves[0]
    half = _split(len(leaves))
    return _node(_root(leaves[:half]), _root(leaves[half:]))


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
    """Say whether a line is at `place` of `num` in the tree with the root `expected`; false for an ill-formed proof.

    The algorithm is that of RFC 9162, section 2.1.3.2.
    """
    node, last = leaf(line), num - 1
    if not 0 <= place <= last:
        return False
    for sibling in siblings:
        try:
            other = bytes.fromhex(sibling)
        except ValueError:
            return False
        if not last:
            return False
        if place & 1 or place == last:
            node = _node(other, node)
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        else:
            node = _node(node, other)
        place, last = place >> 1, last >> 1
    return not last and node.hex() == expected


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def _split(num: int) -> int:
    """Return the largest power of two below `num`."""
    return 1 << ((num - 1).bit_length() - 1)
