"""A Merkle tree proves that a line is in it, and at which place; nothing else passes."""

import pytest

from training.lineage.merkle import EMPTY, inclusion, is_included, leaf, root

PUBLISHED = [b"", b"\x00", b"\x10", b" !", b"01", b"@ABC", b"PQRSTUVW", b"`abcdefghijklmno"]
"""The lines of the test vectors of Certificate Transparency."""
ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


def leaves(num: int) -> list[bytes]:
    return [leaf(line) for line in lines(num)]


def lines(num: int) -> list[bytes]:
    return [b"line %d" % i for i in range(num)]


@pytest.mark.parametrize("num", ROOTS)
def test_roots_are_those_of_the_published_vectors(num):
    assert root([leaf(line) for line in PUBLISHED[:num]]) == ROOTS[num]


@pytest.mark.parametrize("num", range(1, 10))
def test_every_line_is_proved_at_its_place_and_at_no_other(num):
    expected = root(leaves(num))
    for place, line in enumerate(lines(num)):
        proof = inclusion(leaves(num), place)
        accepted = [p for p in range(-1, num + 1) if is_included(line, p, num, proof, expected)]
        assert accepted == [place]


def test_another_line_another_sibling_and_another_root_are_refused():
    expected, proof = root(leaves(5)), inclusion(leaves(5), 2)
    assert not is_included(b"line 3", 2, 5, proof, expected)
    assert not is_included(b"line 2", 2, 5, proof[::-1], expected)
    assert not is_included(b"line 2", 2, 5, proof[:-1], expected)
    assert not is_included(b"line 2", 2, 5, [*proof, proof[0]], expected)
    assert not is_included(b"line 2", 2, 5, ["no digits", *proof[1:]], expected)
    assert not is_included(b"line 2", 2, 5, proof, root(leaves(4)))


def test_an_inner_node_is_no_leaf():
    """Without marks on leaves and nodes, the two hashes below a root would pass for a line of a smaller tree."""
    left, right = leaves(2)
    assert root([leaf(left + right)]) != root([left, right])


def test_no_lines_have_a_root_and_no_proof():
    assert root([]) == EMPTY
    with pytest.raises(IndexError):
        inclusion([], 0)
