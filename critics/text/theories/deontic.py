"""Deontic logic over actions: what is obligatory, permissible or impermissible (LogicGuide's paper, appendix C).

Upstream loads two rules: what is obligatory is permissible, and what is impermissible is not permissible. The
kernel never contraposes, so that `Is it impermissible?` would stay open where something is obligatory, and half
of the published answers could not be proved. Their contrapositives are therefore stated beside them. They add
nothing that does not follow from the two in classical logic, and with them two theorems take two steps:

    obligatory -> permissible -> not impermissible
    impermissible -> not permissible -> not obligatory

What does not follow is not stated: that all that is not permissible is impermissible, that all that is not
impermissible is permissible (nobody need have forbidden it), or anything about actions that belong together.
"""

from collections.abc import Mapping

MODALITIES: Mapping[str, tuple[str, ...]] = {
    "obligatory": ("action",),
    "permissible": ("action",),
    "impermissible": ("action",),
}
"""The deontic predicates with the sort of their argument."""
AXIOMS = (
    "(obligatory 'a) -> (permissible 'a)",
    "(impermissible 'a) -> (not (permissible 'a))",
    "(permissible 'a) -> (not (impermissible 'a))",
    "(not (permissible 'a)) -> (not (obligatory 'a))",
)
