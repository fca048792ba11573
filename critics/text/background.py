"""Background of a data set: rules that no attempt has to state, and sorts.

The rules stand in the reference formalisation as well, so that the checker needs to know nothing of this module.
"""

from dataclasses import dataclass
from functools import lru_cache

from critics.replay.formula import Statement, parse_statement
from critics.replay.kernel import Kernel
from critics.replay.sorts import SortedSignature, joined


@dataclass(frozen=True, slots=True)
class Background:
    """Rules in the formal language, and the signature of a typed theory (None: untyped)."""

    axioms: tuple[str, ...] = ()
    signature: SortedSignature | None = None

    def statements(self) -> tuple[Statement, ...]:
        """Return the rules as statements."""
        return tuple(map(parse_statement, self.axioms))

    def kernel(self) -> Kernel:
        """Return a kernel that knows the rules and holds statements to the signature."""
        kernel = Kernel(signature=self.signature)
        for statement in self.statements():
            kernel.add_axiom(statement)
        return kernel


BACKGROUNDS: dict[str, Background] = {}
"""By data set, once it is asked for."""


@lru_cache(maxsize=256)
def vocabulary(dataset: str, context: str) -> tuple[str, SortedSignature] | None:
    """Return the names and sorts that one problem's typed theory has, and what it is called; None where it is untyped.

    Of DeontiQA it is that of the domain which the context is about, or of both where that cannot be told.
    """
    whole = background(dataset).signature
    if whole is None:
        return None
    from critics.text.theories import scheduling, triage

    words = context.lower()
    about = [name for name, word in (("calendar", "event"), ("triage", "patient")) if word in words]
    parts = {"calendar": scheduling.SIGNATURE, "triage": triage.SIGNATURE}
    return (about[0], parts[about[0]]) if dataset == "deontiqa" and len(about) == 1 else (dataset, whole)


def background(dataset: str) -> Background:
    """Return what a data set takes for granted; of most it is nothing."""
    if dataset in BACKGROUNDS:
        return BACKGROUNDS[dataset]
    if dataset == "syllogism":
        from critics.text.translators import syllogism

        BACKGROUNDS[dataset] = Background(syllogism.CALCULUS)
    if dataset == "deontiqa":
        from critics.text.theories import deontic, scheduling, triage

        # One signature for both domains: a data set's name does not say which of them a problem is from.
        BACKGROUNDS[dataset] = Background(deontic.AXIOMS, joined(scheduling.SIGNATURE, triage.SIGNATURE))
    return BACKGROUNDS.get(dataset, Background())
