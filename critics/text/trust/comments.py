"""Comments of programs: the sentences that a model writes beside its formulas, and before and after its program.

A comment is supported where the problem says it, or where it repeats its formula in the formula's words. One without
support, all of whose words are the problem's, is false. One with other words is not read: nothing is known of it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from critics.logic.programs.ordering_text import is_claimed
from critics.logic.programs.sections import COMMENT, rows
from critics.problem import Attempt, Problem
from critics.text.blocks import ANSWER_CLAIM, final_answer
from critics.text.english.language import Unreadable, language_of
from critics.text.english.passage import num_characters
from critics.text.english.phrases import FILLERS
from critics.text.faithfulness.english import NEGATIONS, sentences
from critics.text.reference import TRANSLATORS
from critics.text.trust.words import begin_alike, content, shared_words
from critics.verdict.reading import BadStep, Span, TextReading

_DECLARED = re.compile(r"[\s>*•-]*(?:\d{1,3}[.)]\s*)?\w[\w'’-]*\s*\([^()\n]*\)[\s.,;:–-]*")
_LABELLED = re.compile(r"\s*-?\d{1,6}\s*[:=](?:\s*[\w'’-]+){1,4}\s*")
_QUESTION = re.compile(r"\s*question\b[\s:]*", re.IGNORECASE)
CODE = "code"
"""The comments of a script. They say of code what it does as well, so that what has no word of the problem's is passed
over, and is not `unread`."""
_LANGUAGE = re.compile(r"\w{0,12}\s*")
"""Language that stands behind a fence."""
_DECLARING = ("predicate", "declaration", "domain", "variable")
_ASKING = ("quer", "question", "conclusion", "option")
_DENIED = re.compile(r"\bfalse\b|[¬~!]|\bnot\s*\(|-\s*(?:exists|all)|\bnot\b", re.IGNORECASE)
_NAME = re.compile(r"[^\W_]\w*")
_HEDGES = frozenset(
    """
    only just even alone merely solely most many much few several half almost nearly hardly scarcely barely rarely
    seldom usually often sometimes generally typically normally probably perhaps maybe likely possibly may might could
    would should except unless without
    """.split()  # noqa: SIM905 (a list of quoted words is harder to read)
)
_QUANTIFYING = _HEDGES | {"every", "each", "all", "no", "none", "any"}
_SOME = frozenset({"some", "someone", "something", "somebody", "there"})
_EXISTS = re.compile(r"∃|exists", re.IGNORECASE)
_DISTINCT = re.compile(r"distinct", re.IGNORECASE)
_DIFFERENT = re.compile(r"\b(?:different|same|unique|distinct|no two|only one|exactly one)\b", re.IGNORECASE)
_LEADS = re.compile(r"(?:\s+(?:::+)|:::|[ \t]+)+$")
_VALUES = re.compile(r" *\((?:true|false|unknown)(?:(?:,? or|[,/]) *(?:true|false|unknown))+\)$", re.IGNORECASE)
"""Values that a question has, behind it."""
_VALUE = re.compile(r" *\((?:answer: )?(true|false|unknown)\)$", re.IGNORECASE)
"""The value of the query, or of the answer, behind its words."""
MAX_COMMENTS = 1_000
"""More are not read: the models' programs have under a hundred."""
_DIGITS = re.compile(r"(?<!^)\b\d+")
_LEAD = re.compile(r"[\W_]*(?:(?:so|thus|hence|therefore)\b[\W_]*)?(?:the )?(?:final |correct )?", re.IGNORECASE)
"""Words that may stand before the answer."""
_LABEL = re.compile(r"\(?([A-Za-z])[).:]+\s*")
_ALONE = re.compile(
    r"\W*(?:\d{1,3}[.)]\s*)?[^\w\s]*\s*(true|false|unknown|uncertain|yes|no|valid|invalid|[a-z])\W*", re.IGNORECASE
)
"""A value or a letter, and nothing else."""


@dataclass(frozen=True, slots=True)
class Comment:
    """Words of a program that are no formula: where they stand, and the formula that they stand behind."""

    start: int
    end: int
    text: str
    section: str
    formula: str
    """Empty where the line has none."""


def read_comments(comments: Iterable[Comment], attempt: Attempt, answer: str | None) -> TextReading | None:
    """Return what is known of a program's comments: the first that is false, and those that are not read.

    None where they are all told.
    """
    text, unread = attempt.completion, list[Span]()
    told = content(f"{attempt.problem.context}\n{attempt.problem.question}")
    for index, comment in enumerate(comments):
        if index < MAX_COMMENTS and _is_told(comment, attempt.problem, answer):
            continue
        if index < MAX_COMMENTS and _is_false(comment, attempt.problem, answer):
            return TextReading(0.0, (), BadStep(index, comment.text, "the problem says nothing of the kind"))
        # Attack: `# Every cat is a dog.` beside the rule that every cat is a mammal.
        if comment.section != CODE or content(comment.text) & told:
            unread.append(Span(comment.start, comment.end, "unread"))
    if not unread:
        return None
    total = num_characters(text)
    held = total - sum(num_characters(text[span.start : span.end]) for span in unread)
    return TextReading(held / total, tuple(unread))


def _is_false(comment: Comment, problem: Problem, answer: str | None) -> bool:
    """Say whether a comment that is not told says what the problem does not, and its formula does not."""
    claim = ANSWER_CLAIM.search(comment.text)
    if claim is not None and _claimed(claim, problem) != answer:
        return True
    words, names = content(comment.text), _NAME.findall(comment.formula)
    if not words or comment.section.startswith(_DECLARING):
        return False
    if names and words <= shared_words(names, comment.text):
        return True  # The words of its formula, and another sign.
    # Elsewhere a text says one thing in many ways, and its comments too.
    is_regular = problem.dataset in (*TRANSLATORS, "logicaldeduction")
    if is_regular and len(words) > 1 and words <= content(f"{problem.context}\n{problem.question}"):
        return True
    return is_claimed(comment.text, problem.context, ()) is False


def comments_of_sections(
    text: str, titles: Mapping[str, Sequence[str]], *, has_one_query: bool = False
) -> Iterator[Comment]:
    """Yield what stands beside the formulas of a program in sections, headed as `titles` says.

    `has_one_query` says that nothing is read behind the first line of the section `query`.
    """
    is_asked = False
    for row in rows(text, titles):
        line, section, begin = row.whole, row.section, row.begin
        if row.is_fence:
            # Attack: a falsehood behind a fence, among the rules.
            if _LANGUAGE.fullmatch(line, begin) is None:
                yield comment_in(line, begin, row.start, section, "")
            continue
        mark = COMMENT.search(line, begin)
        end = len(line) if mark is None else mark.start()
        code = _num_read(line[begin:end], section, is_last=is_asked and has_one_query)
        is_asked = is_asked or (section == "query" and bool(line[begin:end].strip()))
        if re.search(r"[^\W_]", line[begin + code : end]) is not None:
            yield comment_in(line, begin + code, row.start, section, line[begin : begin + code], end)
        if mark is not None:
            yield comment_in(line, mark.end(), row.start, section, line[begin:end])


def without(program: str, places: Iterable[tuple[int, int]]) -> str:
    """Return a program without its comments, which stand at these places, and without what led to them."""
    kept, at = "", 0
    for start, end in sorted(places):
        kept, at = kept + program[at:start], end
    bare = (_LEADS.sub("", line) for line in (kept + program[at:]).split("\n"))
    return "\n".join(line for line in bare if line.strip())


def _num_read(text: str, section: str, *, is_last: bool) -> int:
    """Return how many characters of a line the format's reader reads or refuses; it passes over the rest.

    Attack: a falsehood before the program, among its declarations, behind its query.
    """
    match section:
        case "predicates":
            found = _DECLARED.match(text)
        case "domain":
            found = _LABELLED.fullmatch(text)
        case "options" if _QUESTION.match(text):
            found = _QUESTION.match(text)
        case "":
            found = None
        case _:
            return 0 if section == "query" and is_last else len(text)
    return 0 if found is None else found.end()


def comments_of_lines(text: str, at: int, section: str) -> Iterator[Comment]:
    """Yield every line of a text that is no program; `at` is its place in the completion."""
    for line in text.split("\n"):
        if line.strip():
            yield comment_in(line, 0, at, section, "")
        at += len(line) + 1


def comment_in(line: str, begin: int, start: int, section: str, formula: str, end: int | None = None) -> Comment:
    """Return the words of a line, which begins at `start`, between two of its places, and the formula beside them."""
    said = line[begin:end].strip(" \t\r:")
    place = start + line.find(said, begin)
    return Comment(place, place + len(said), said, section, formula)


def _is_told(comment: Comment, problem: Problem, answer: str | None) -> bool:
    said = _VALUES.sub("", comment.text.removeprefix("- "))
    value = _VALUE.search(said)
    is_query = value is not None and value[1].lower() in comment.formula.lower()
    if value is not None and (is_query or final_answer(f"Answer: {value[1]}", problem) == answer):
        said = said[: value.start()]
    if (alone := _ALONE.fullmatch(said)) is not None:
        # Attack: another answer on a line of its own.
        is_answer = final_answer(f"Answer: {alone[1]}", problem) == answer
        return is_answer or _labels(alone[1].lower(), comment.formula.lower())
    claim = ANSWER_CLAIM.search(said)
    if claim is not None and _LEAD.fullmatch(said, 0, claim.start()) and not re.search(r"\w", said[claim.end() :]):
        return _claimed(claim, problem) == answer
    if re.search(r"[^\W_]", said) is None or FILLERS.fullmatch(said.strip(" .:")):
        return claim is None
    is_asked = comment.section.startswith(_ASKING) or comment.section in ("", CODE)
    names = _NAME.findall(comment.formula)
    if names and comment.section.startswith(_DECLARING):
        # Attack: `Only cats are warm` beside the predicate of cats.
        is_claim = _QUANTIFYING & set(re.findall(r"[a-z-]+", said.lower()))
        parts = re.split(r"(?<=[.;!?])\s+", said)
        told = content(f"{problem.context}\n{problem.question}") | shared_words(names, said)
        is_about = said.endswith("?") or all(any(begin_alike(word, one) for one in told) for word in content(said))
        return is_about and not is_claim and all(shared_words(names, one) and not _denies(one) for one in parts)
    if _is_of_text(said, problem.context) or (is_asked and _is_of_question(comment, said, problem, answer)):
        return True
    if is_claimed(said, problem.context, _options(comment, problem, answer) if is_asked else ()):
        return True
    if _DISTINCT.search(comment.formula) or "AllDifferent" in comment.formula:
        return _DIFFERENT.search(said) is not None
    if not is_asked and (read := _is_stated(said, problem)) is not None:
        # Attack: `Every bird is a wren.` beside the rule that every wren is a bird.
        return read
    return bool(names) and _says_the_same(said, comment.formula, names)


def _labels(value: str, formula: str) -> bool:
    """Say whether a value is its formula's own, or a letter its option's."""
    own = _LABEL.match(formula.lstrip())
    if len(value) == 1:
        return bool(formula) if own is None else own[1] == value
    return re.search(rf"\b{value}\b", formula) is not None


def _is_stated(said: str, problem: Problem) -> bool | None:
    """Say whether a sentence says what the context says in other words; None where the two are not read."""
    try:
        language = language_of(problem)
    except Unreadable:
        return None
    read = language.read(said)
    stated = {clause.canonical() for clause in language.stated}
    return None if read is None else all(clause.canonical() in stated for clause in read)


def _says_the_same(said: str, formula: str, names: Sequence[str]) -> bool:
    """Say whether a comment has no words but its formula's, and denies something where the formula does."""
    words = content(said)
    # Attack: words without content, such as `the statement is false`, and sums.
    if not words or words - shared_words(names, said) or not {*_DIGITS.findall(said)} <= {*_DIGITS.findall(formula)}:
        return False
    told = set(re.findall(r"[a-z-]+", said.lower()))
    if told & _HEDGES or (told & _SOME and _EXISTS.search(formula) is None):
        # Attack: `Only cats are mammals`, `Some cats are mammals` beside the formula of all cats.
        return False
    return said.endswith("?") or _denies(said) == (_DENIED.search(formula) is not None)


def _claimed(claim: re.Match[str], problem: Problem) -> str | None:
    return final_answer(f"Answer: {claim[claim.lastindex or 0]}", problem)


def _denies(said: str) -> bool:
    return any(NEGATIONS.intersection(sentence.words) for sentence in sentences(said))


def _is_of_text(said: str, context: str) -> bool:
    """Say whether all that is said are sentences of the context."""
    told = _sentences_of(context)
    return _letters(said) in told or all(_letters(p) in told for p in re.split(r"(?<=[.!?])\s+", said) if _letters(p))


@lru_cache(maxsize=64)
def _sentences_of(context: str) -> frozenset[str]:
    return frozenset(_letters(part) for part in re.split(r"(?<=[.!?])\s+|\n+", context))


def _is_of_question(comment: Comment, said: str, problem: Problem, answer: str | None) -> bool:
    """Say whether something is the question, the statement behind its lead, or an option that may be said here."""
    parts = re.split(r"(?<=[.:?!])\s+", problem.question)
    asked = [" ".join(parts[at:]) for at in range(len(parts))]
    options = [each for one in _options(comment, problem, answer) for each in (one, _LABEL.sub("", one))]
    return _letters(said) in map(_letters, [*parts, *asked, *options])


def _options(comment: Comment, problem: Problem, answer: str | None) -> Sequence[str]:
    """Return the options whose words a comment may have: its line's own, and on a line without a formula the answer.

    Attack: another option's text beside an option's formula, or as what the program comes to.
    """
    own = _LABEL.match(comment.formula.lstrip()) or _LABEL.match(comment.text)
    letter = (own[1].upper() if own is not None else None) if comment.formula else answer
    options = problem.options or ()
    return [one for at, one in enumerate(options) if letter is None or chr(ord("A") + at) == letter]


def _letters(text: str) -> str:
    return re.sub(r"^\d+ ", "", re.sub(r"[^a-z0-9]+", " ", text.lower()).strip())
