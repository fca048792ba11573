"""The format `csp`: Logic-LM's language for LogicalDeduction, judged by finite-domain search."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from critics.formats.programs import OptionPrograms

if TYPE_CHECKING:
    from critics.logic.programs.options import Option, OptionProgram


class Csp(OptionPrograms):
    """Constraint programs over finite domains."""

    kinds = ("csp-model",)

    def names(self, program: "OptionProgram") -> Iterable[str]:
        return program.declared.functions

    def named(self, option: "Option") -> Sequence[str]:
        from critics.replay.finite.terms import called

        return list(called(option.formulas[0]))


FORMAT = Csp()
