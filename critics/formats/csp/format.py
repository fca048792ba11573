"""The format `csp`: Logic-LM's language for LogicalDeduction, judged by finite-domain search."""

from critics.formats.programs import OptionPrograms


class Csp(OptionPrograms):
    """Constraint programs over finite domains."""

    kinds = ("csp-model",)


FORMAT = Csp()
