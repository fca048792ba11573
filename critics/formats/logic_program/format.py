"""The format `logic-program`: Logic-LM's language for AR-LSAT, judged by Z3."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from critics.formats.programs import OptionPrograms

if TYPE_CHECKING:
    from critics.logic.programs.options import Option, OptionProgram

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


class LogicPrograms(OptionPrograms):
    """Programs of declarations, constraints and options."""

    kinds = ("program-options",)

    def names(self, program: "OptionProgram") -> Iterable[str]:
        declared = program.declared
        names = (*declared.sorts, *declared.members, *declared.functions)
        return (name for name in names if not name.isdigit())

    def named(self, option: "Option") -> Sequence[str]:
        return _IDENTIFIER.findall(option.line.text.partition(":::")[0])


FORMAT = LogicPrograms()
