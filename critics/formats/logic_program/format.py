"""The format `logic-program`: Logic-LM's language for AR-LSAT, judged by Z3."""

from critics.formats.programs import OptionPrograms


class LogicPrograms(OptionPrograms):
    """Programs of declarations, constraints and options."""

    kinds = ("program-options",)


FORMAT = LogicPrograms()
