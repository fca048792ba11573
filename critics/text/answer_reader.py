"""The one reader of answers in free text: what a model that nothing guides says the answer is, or None.

Models write `**Answer:** B`, `The answer is (B) the owl.`, `\\boxed{true}`, `So the statement is false.` or the text of
an option alone. The reader takes all of these, and takes none where two different answers are given, where one is
hedged (`true or false`, `true, but it may be false`), or where the words only look like an answer: a condition, a
question, a quotation, a denial, the restated question or options. Accuracy is counted on what it reads, so a guess of
the reader would be a guess of the model.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from critics.problem import Problem
from critics.replay.answers import free_answers, in_terms_of, kind_of
from critics.replay.replies import without_thinking
from critics.text.blocks import named_answer

MAX_CHARACTERS = 200_000
"""Characters of a reply; longer ones have no answer."""
_MARKS = " \t*_#>`$~|\"'“”‘’✅☑✔•"
_LATEX = re.compile(r"\\(?:text(?:bf|it|rm|tt)?|math(?:rm|bf|tt|it|sf)|mbox)\s*\{([^{}\n]{0,300})\}")
_DISPLAY = re.compile(r"\\[()\[\]]|\\[,;!]")
_BOXED = re.compile(r"\\f?box(?:ed)?\s*\{([^{}\n]{0,300})\}?")
_OWN = r"(?:(?:the|my|our|so|thus|therefore|hence|final|correct|right|best|overall|short|and|only|is|then)[ ,]+){0,6}"
_THING = r"(?:answers?|choice|option|answer choice|answer option|verdict|label|solution|response)"
_COPULA = r"(?:is(?: therefore| thus| then| hence| indeed| clearly| simply)?|must be|should be|would be|has to be|=|:)"
_LINE = re.compile(
    rf"{_OWN}(?:final |correct )?(?:answer|ans|answer choice|correct option|correct choice|final verdict)"
    r"(?: to the question)?"
    rf"[*_`\"' \t]*(?:\bis\b[ \t]*)?(?P<mark>\]:?|:|=|-|–|—|$|(?<=is )|(?<=is\t))[*_`\"' \t]*(?P<value>.*)",
    re.IGNORECASE,
)
"""A line that gives the answer; its value may stand on the next one."""
_CLAIM = re.compile(
    rf"\b(?:(?:the|my|our|final|correct|right|best)[ *_]+){{1,4}}{_THING}(?: to (?:the|this) question| here| choice)?"
    rf"[*_ ,]{{0,4}}(?:therefore|thus|then|hence)?[ ,]{{0,2}}{_COPULA}[*_ :]{{0,4}}(?:that (?:the|this) \w+ is )?"
    rf"(?:(?:the )?(?:option|choice|letter) )?(?P<value>[^\n]*)"
    rf"|\banswer[\"'*_` ]{{0,4}}[:=][ *_`]{{0,4}}(?P<after>[^\n]*)",
    re.IGNORECASE,
)
"""A claim within a sentence, such as `the answer is B`."""
_CLOSING = re.compile(
    r"(?:(?:so|thus|therefore|hence|consequently|in conclusion|overall|finally|based on [^.\n]{0,120}?"
    r"|we (?:can )?conclude that|it follows that|this means(?: that)?"
    r"|given (?:this|that|these|the)[^.\n]{0,80}?)[, ]+){0,3}"
    r"(?:the|this|that|our) (?:given |original |final |above )?(?:statement|claim|conclusion|proposition|hypothesis"
    r"|query|question|argument|syllogism)(?:,? [\"“][^\"”\n]{1,300}[\"”],?| that [^.\n]{1,200})?"
    r" (?:is|must be|would be|remains) (?:therefore |thus |then |hence |indeed |logically |deductively |definitely )?"
    r"(?P<value>[^\n]*)",
    re.IGNORECASE,
)
"""The last sentence, where it says what the statement is."""
_TRUTHS = {
    "true": "true", "yes": "yes", "false": "false", "no": "no", "valid": "valid", "invalid": "invalid",
    "correct": "true", "incorrect": "false",
    "not valid": "invalid", "not logically valid": "invalid", "not deductively valid": "invalid",
    "unknown": "unknown", "uncertain": "unknown", "undetermined": "unknown", "undecided": "unknown",
    "indeterminate": "unknown", "inconclusive": "unknown", "undecidable": "unknown", "cannot be determined": "unknown",
    "can't be determined": "unknown", "can not be determined": "unknown", "not enough information": "unknown",
    "insufficient information": "unknown", "neither true nor false": "unknown", "neither": "unknown",
}  # fmt: skip
_TRUTH = re.compile(rf"(?P<word>{'|'.join(sorted(_TRUTHS, key=len, reverse=True))})(?![\w-])", re.IGNORECASE)
_LETTER = re.compile(
    r"(?:option |choice |answer |letter )?(?:\((?P<in>[a-z])\)|\[(?P<of>[a-z])\]|(?P<bare>[a-z])(?![\w'’]))[).:]?",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"[\s*_`\"'”)\].,;:!–—-]*(?:$|\(|(?:because|since|as|for|given|due|by|in (?:this|the|that|all)|based|this"
    r"|here|from|which|explanation|reason\w*|justification|the|we|it|all|every|each|rule|premise)\b)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:that )?(?:(?:the|this|our) (?:given |original )?"
    r"(?:statement|claim|conclusion|hypothesis|argument|proposition)|it)"
    r" is (?:therefore |thus |logically )?",
    re.IGNORECASE,
)
_REVERSED = re.compile(
    r"(?:^|[^\w'’])(?P<value>(?:[Oo]ption |[Cc]hoice |[Aa]nswer )?\(?[A-Z]\)?)[\s*_]{1,4}(?:is|must be)[\s*_]{1,4}"
    r"(?:therefore |thus |also )?(?:the )?(?:correct|right|best|final|only correct|only valid)"
    r"(?: one| answer| option| choice|(?=[.,;\s*_]*(?:$|because|since)))"
)
"""`Option B is correct.`"""
_STOP = re.compile(r"[\s*_`\"'”)\]]*(?:[.,;:!\n–—(]|-{1,2} |$)")
_DOUBT = re.compile(
    r"\b(?:or|either|maybe|perhaps|possibly|alternatively|could|may|might|also|wait|actually|rather|instead|otherwise"
    r"|unless|however|but|though|although|probably not|not sure|unsure|if)\b|/|\?",
    re.IGNORECASE,
)
"""Words that make another value behind an answer a second answer."""
_HEDGED_AT_ONCE = re.compile(
    r"[\s*_`\"'”),;(.-]*(?:or|/|and/or|unless|if|\?|maybe|perhaps|possibly|xor|vs)(?!\w)", re.IGNORECASE
)
_UNREAL = re.compile(
    r"\b(?:if|whether|suppose|assume|assuming|unless|would|could|might|may|say|says|claims?|check|checking|consider"
    r"|considering|determine|decide|see|tell|asks?|asked|what|which|when|not|never|isn't|cannot|can't|format|write|e\.g\."
    r"|example|respond|respond with|once|until|either|options?)\b[^.!?\n]{0,80}$",
    re.IGNORECASE,
)
"""Words before a claim in its sentence that make it none: a condition, a question, a denial, an instruction."""
_RETRACTED = re.compile(
    r"(?:^|[.!?]\s+|\n\s*)(?:or (?:perhaps|maybe|rather|else)|wait\b|actually,|hmm+\b|on second thought|scratch that"
    r"|correction\b|let me (?:re-?)(?:check|consider|think|evaluate|examine)|i (?:was|am) (?:wrong|not sure)|not sure)",
    re.IGNORECASE,
)
"""Words behind the last answer that take it back, without a new one."""
_BUT = re.compile(r"\b(?:but|however|although|though|yet)\b", re.IGNORECASE)
_EXPLAINED = re.compile(
    r"(?:explanation|reason(?:ing)?|justification|because|since|here is why|proof)\b", re.IGNORECASE
)
"""Words behind a line that is nothing but a value; they make it the answer, and not the first of the options."""
_ASIDE = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|`[^`\n]{1,400}`")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")


class _Unreadable(Enum):
    """A place where an answer should stand and none can be read, or more than one."""

    HERE = "here"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads values in the terms of one problem."""

    problem: Problem

    def value(self, text: str, *, alone: bool = False) -> str | _Unreadable | None:
        """Return the answer that a text begins with; None where it begins with none, `HERE` where it hedges.

        `alone`: nothing may follow but the option's own text.
        """
        text = _plain(_BOXED.sub(r"\1", _plain(text), count=1))
        lead = _LEAD.match(text)
        found, rest = self._begun(text if lead is None else text[lead.end() :].lstrip(_MARKS))
        if found is None or not rest.strip(_MARKS + ".!,;:)(}]"):
            return found
        if alone:
            return None
        if _HEDGED_AT_ONCE.match(rest) or _RETRACTED.search(rest) or self._doubted(rest, found):
            return _Unreadable.HERE
        return found if _STOP.match(rest) or _REASON.match(rest) else None

    def _begun(self, text: str) -> tuple[str | None, str]:
        """Return the answer at the beginning, and what follows it."""
        options = self.problem.options
        for option in sorted(options or (), key=len, reverse=True):
            # An answer's own quotation marks are gone by now, and options may begin with some: `"18" and "harp"`.
            for said in dict.fromkeys((option.strip(), _without_letter(option), option.strip(_MARKS))):
                if len(said) > 1 and text.lower().startswith(said.rstrip(". ").lower()):
                    rest = text[len(said.rstrip(". ")) :]
                    if not rest[:1].isalnum() and (named := named_answer(option, self.problem)) is not None:
                        return named, rest
        letter = _LETTER.match(text)
        if letter is not None and options is None:
            value, rest = self._begun_with_truth(text[letter.end() :].lstrip(_MARKS))
            return (value, rest) if value == named_answer(f"{letter[0]} {value}", self.problem) else (None, text)
        if letter is not None:
            own = (letter["in"] or letter["of"] or letter["bare"]).upper()
            rest = text[letter.end() :].lstrip(_MARKS)
            if ord(own) - ord("A") >= len(options or ()):
                return None, text
            if letter["bare"] and letter["bare"].islower() and letter[0][-1] not in ").:" and rest:
                # `the answer is a true statement`
                return None, text
            if letter[0][-1] in ").:]":
                named, after = self._begun(rest) if rest else (None, rest)
                if named is not None and not _LETTER.match(rest):
                    # Attack: `A) False` hedges between the option A and the option that says False.
                    return (named, after) if named == own else (None, text)
            return own, rest if letter[0][-1] not in ").:]" else ". " + rest if rest else ""
        return self._begun_with_truth(text)

    def _begun_with_truth(self, text: str) -> tuple[str | None, str]:
        match = _TRUTH.match(text)
        if match is None:
            return None, text
        return self._truth(match["word"]), text[match.end() :]

    def _truth(self, word: str) -> str | None:
        value = _TRUTHS[word.lower()]
        named = named_answer(value, self.problem)
        asked = self.problem.question.rstrip()
        if named is None and value in ("yes", "no") and asked.endswith("?") and " or " not in asked.lower():
            named = in_terms_of("true" if value == "yes" else "false", self.problem.options)
        return named

    def _doubted(self, rest: str, found: str) -> bool:
        """Say whether what follows an answer brings up another one."""
        listed = re.match(r"[\s*_`\"',;&-]+(?:and )?(?=[\w(])", rest)
        if listed is not None:
            other, _ = self._begun(rest[listed.end() :])
            if other not in (None, found) and self._is_spelled(rest[listed.end() :]):
                return True
        for match in _DOUBT.finditer(rest[:400]):
            window = _plain(rest[match.end() : match.end() + 60])
            for place in re.finditer(r"(?<![\w])(?=\w|\()", window):
                other, _ = self._begun(window[place.start() :])
                if other is not None and other != found and self._is_spelled(window[place.start() :]):
                    return True
        return False

    def _is_spelled(self, text: str) -> bool:
        """Say whether a value is more than the article `a`."""
        return not re.match(r"[aA]\s+\w", text)


def read_answer(text: str, problem: Problem) -> str | None:
    """Return the one answer of a reply in the problem's terms; None where there is none, or more than one."""
    if len(text) > MAX_CHARACTERS:
        return None
    if (kind := kind_of(problem.options, problem.meta)) is not None:
        free = set(free_answers(without_thinking(text), kind))
        return free.pop() if len(free) == 1 else None
    reader, text = _Reader(problem), _without_problem(without_thinking(text), problem)
    lines = [line for line in text.splitlines() if line.strip(_MARKS + "-=:")]
    said = list(_given(lines, reader))
    if said and _RETRACTED.search("\n".join(lines[said[-1][0] + 1 :])):
        return None
    values = {value for _, value in said} if said else set(_closing(lines, reader))
    answer = values.pop() if len(values) == 1 else None
    return answer if isinstance(answer, str) else None


def _given(lines: list[str], reader: _Reader) -> Iterator[tuple[int, str | _Unreadable]]:
    """Yield what the lines `Answer: ..`, the boxes and the claims give, each with its line's number."""
    for number, line in enumerate(lines):
        plain = _plain(line)
        boxed = _BOXED.search(plain)
        match = _LINE.fullmatch(plain.lstrip("-0123456789. ").lstrip(_MARKS + "["))
        if match is not None:
            written = match["value"] if match["value"].strip(_MARKS + ".") else "".join(lines[number + 1 : number + 2])
            if match["mark"].strip() or not re.match(r"\W*(?:in)?correct", written, re.IGNORECASE):
                yield number, reader.value(written) or _Unreadable.HERE
            continue
        if boxed is not None:
            yield number, reader.value(boxed[1], alone=True) or _Unreadable.HERE
            continue
        unquoted = _ASIDE.sub(lambda aside: aside[0] if len(aside[0]) < 12 else " ", line)
        unquoted = unquoted.replace("*", "").replace("__", "")
        for claim in (*_CLAIM.finditer(unquoted), *_REVERSED.finditer(unquoted)):
            written = claim["value"] or claim.groupdict().get("after") or ""
            # `The answer is correct` says nothing of the statement.
            if _is_real(unquoted, claim) and not re.match(r"\W*(?:in)?correct", written, re.IGNORECASE):
                value = reader.value(written)
                if value is not None:
                    yield number, value


def _closing(lines: list[str], reader: _Reader) -> Iterator[str | _Unreadable]:
    """Yield the answer that the last line is, or that its last sentence gives."""
    if not lines:
        return
    last = lines[-1].strip()
    before = lines[-2].strip(_MARKS) if len(lines) > 1 else ""
    # Attack: the options restated, of which the last is no answer.
    listed = before.endswith(":") or reader.value(before, alone=True) is not None
    if len(lines) == 1 or not listed:
        value = reader.value(last.lstrip("-• "), alone=len(lines) > 1)
        if value is not None and not _BUT.search(last):
            yield value
            return
    if len(lines) > 1 and _EXPLAINED.match(_plain(lines[1])):
        first = reader.value(lines[0], alone=True)
        if first is not None:
            yield first
            return
    sentences = [part for part in re.split(r"(?<=[.!?])\s+", last) if part.strip(_MARKS)]
    if len(sentences) > 1 and (sentences[-1].startswith("(") or sentences[-2].endswith("?")):
        # `Is Tom warm? (False)`
        value = reader.value(sentences[-1].rstrip(".)").lstrip("("), alone=True)
        if value is not None:
            yield value
            return
    match = _CLOSING.fullmatch(_plain(sentences[-1])) if sentences else None
    if match is not None and not match["value"].rstrip().endswith("?"):
        value = reader.value(match["value"])
        if value is not None:
            yield value


def _is_real(line: str, claim: re.Match[str]) -> bool:
    """Say whether a claim is neither a condition nor a question nor denied, so far as its own sentence tells."""
    start = max((end.end() for end in _SENTENCE_END.finditer(line, 0, claim.start())), default=0)
    if _UNREAL.search(line[start : claim.start()]):
        return False
    end = _SENTENCE_END.search(line, claim.start("value") if claim["value"] else claim.start("after"))
    return end is None or end[0] != "?"


def _plain(text: str) -> str:
    """Return a text without LaTeX's and Markdown's marks around its words."""
    text = _DISPLAY.sub(" ", text)
    for _ in range(3):
        text = _LATEX.sub(r"\1", text)
    return text.replace("**", "").replace("__", "").strip().strip(_MARKS).strip()


def _without_letter(option: str) -> str:
    return re.sub(r"^\(?[A-Za-z][ \t]*[).:]\s*", "", option.strip())


def _without_problem(text: str, problem: Problem) -> str:
    """Take the restated question and context out, whatever answers they speak of."""
    for restated in (problem.question, problem.context):
        if len(restated.strip()) > 12:
            text = text.replace(restated.strip(), " ")
    return text
