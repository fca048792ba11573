"""Formats whose attempts are programs in titled sections; of these, programs that make a claim for each option."""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from critics.formats.format import Format
from critics.logic.programs.sections import Repairs, place_of_program
from critics.problem import Attempt, Problem
from critics.replay.replies import Place
from critics.verdict import Verdict
from critics.verdict.certificate import Certificate

if TYPE_CHECKING:
    from critics.logic.programs.options import OptionLanguage
    from critics.text.trust.comments import Comment


class SectionedPrograms(Format):
    """Programs whose folder has a module `reader` with their `TITLES`."""

    is_program = True
    is_held_to_text = True
    has_one_query = False

    def part(self, module: str) -> Any:
        """Import a module of the format's folder."""
        package, _, _ = type(self).__module__.rpartition(".")
        return import_module(f"{package}.{module}")

    @property
    def titles(self) -> Mapping[str, Sequence[str]]:
        """Sections, and the ways in which each is headed."""
        return self.part("reader").TITLES

    def place(self, completion: str) -> Place:
        return place_of_program(completion, self.titles)

    def comments(self, completion: str) -> "Iterator[Comment]":
        from critics.text.trust.comments import comments_of_sections

        return comments_of_sections(completion, self.titles, has_one_query=self.has_one_query)


class OptionPrograms(SectionedPrograms):
    """Programs whose folder has a module `language` with their `LANGUAGE`."""

    @property
    def language(self) -> "OptionLanguage":
        """The language: how its programs are read, run and believed."""
        return self.part("language").LANGUAGE

    @property
    def titles(self) -> Mapping[str, Sequence[str]]:
        """Sections of the language."""
        return self.language.titles

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        return self.language.judge(problem, attempt)

    def explain(self, attempt: Attempt) -> str | None:
        return self.language.explain(attempt)

    def claimed(self, problem: Problem, certificate: Certificate) -> tuple[Sequence[str], str]:
        from critics.text.trust.bars import position_of, text_of_option

        program = self.language.read(str(certificate.evidence["program"]), Repairs())
        option = program.options[position_of(certificate.claim)]
        names = re.findall(r"[^\W\d]\w*", option.line.text.partition(":::")[0])
        return names, text_of_option(problem, certificate.claim)
