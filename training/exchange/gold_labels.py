"""Audit of gold labels: what code proves of each problem, without its label, laid beside the label.

problems -> solutions of each way -> verdicts -> a finding for each label -> figures

A label is called wrong only if it is wrong in every reading of the text. A question that cannot be read, decided or
trusted is `not checked`. So is a problem whose statements contradict each other, because they prove every label.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from critics.errors import InputError
from critics.grammar.inflection import is_ambiguous
from critics.judge import Judging
from critics.problem import Problem, RecordError, is_object, read_problem
from critics.replay.answers import in_terms_of
from critics.replay.formula import Literal as Stated
from critics.replay.formula import parse_statement
from critics.replay.grades import GRADES, STRICT
from critics.replay.semantics import semantics_of
from critics.text.reference import TRANSLATORS, ReferenceMismatch, reference
from critics.text.translators import syllogism
from critics.text.translators.syllogism import OPTIONS
from critics.text.translators.translation import TranslationError
from rollout.problems.catalogue import family, is_generated
from rollout.published.loaders import LOADERS, load_published, looks_like
from rollout.records.traces import Trace
from training.curation.filters import judged
from training.exchange.columns import Parts, RowError, Values, read_asked, shape_of
from training.exchange.rationales import UNNAMED, Reading
from training.exchange.shapes import language_of, parts_of
from training.lessons.solutions import WAYS, solution, why_unread
from training.records.tables import Row, Rows, UnreadableRow, columns_of, read_rows
from training.rounds.problems import drawn

GYM = "reasoning-gym"
NUM_GENERATED = 200
_VALIDITY = {"yes": "Valid", "true": "Valid", "no": "Invalid", "false": "Invalid"}
"""Meaning of the answers to `does it follow`: what does not follow need not be false."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """Problems with their gold labels, each with an id of its own."""

    problems: Sequence[Problem]
    unreadable: Sequence[UnreadableRow] = ()
    rows: Mapping[str, Row] = field(default_factory=dict[str, Row])
    """Rows of a table, by the id of their problem."""
    told: Sequence[str] = ()
    """Findings about the source, for people."""


def read_labelled(source: str, reading: Reading, num: int | None, seed: int, encoding: str | None) -> Labelled:
    """Read all problems of a source, or `num` drawn by the seed; raises `InputError` where there are none.

    A generator's name and `reasoning-gym:TASK` make `num` problems (200 where it is not said).
    """
    gym, _, task = source.replace("_", "-", 1).partition(":")
    if gym == GYM:
        found = _of_rows([_of_gym(source.partition(":")[2] or task, num or NUM_GENERATED, seed)], reading, source)
    elif is_generated(source) and not Path(source).exists():
        made = family(source)
        problems = list(made.generate(made.configured({}, "test"), num or NUM_GENERATED, seed=seed))
        found = Labelled(problems, told=[f"made by the generator {source}, split test, seed {seed}"])
    else:
        found = _of_file(source, reading, encoding)
    if not found.problems:
        raise InputError(f"{source}: there is no problem in it")
    return replace(found, problems=drawn(_with_ids(found.problems), num, seed))


def _with_ids(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems, renamed where two have one id: none is lost, and none is judged for another."""
    seen: dict[str, int] = {}
    named: list[Problem] = []
    for problem in problems:
        seen[problem.id] = seen.get(problem.id, 0) + 1
        num = seen[problem.id]
        named.append(problem if num == 1 else replace(problem, id=f"{problem.id}~{num}"))
    return named


def _of_gym(task: str, num: int, seed: int) -> Rows:
    """Return the items of a task of reasoning-gym, whose item i depends on seed and i alone."""
    try:
        gym: Any = import_module("reasoning_gym")
    except ImportError as error:
        raise InputError(f"{GYM}: is not installed ({error}); pip install 'certistar[{GYM}]'") from error
    try:
        items = list(gym.create_dataset(task, seed=seed, size=num))
    except ValueError as error:
        raise InputError(f"{GYM}:{task}: {error}; name a task such as {GYM}:syllogism") from error
    return Rows("jsonl", [Row(f"{GYM}-{task}", place, item) for place, item in enumerate(items)])


def _of_file(source: str, reading: Reading, encoding: str | None) -> Labelled:
    path = Path(source)
    is_json = path.is_file() and ".json" in "".join(path.suffixes)
    if reading.dataset == "folio" and not path.exists():
        return Labelled(list(load_published(path, "folio")), told=["read as the published data set folio"])
    name = reading.dataset or (looks_like(path) if is_json else None)
    if is_json and name in LOADERS and not reading.columns:
        try:
            return Labelled(list(load_published(path, name)), told=[f"read as the published data set {name}"])
        except InputError:
            if reading.dataset is not None:
                raise
    return _of_rows(read_rows(source, encoding), reading, source)


def _of_rows(found: Sequence[Rows], reading: Reading, source: str) -> Labelled:
    """Read rows as problem records, as the problems of attempts, or as a table."""
    read: list[tuple[Problem, Row]] = []
    unreadable = [bad for rows in found for bad in rows.unreadable]
    told: list[str] = []
    for rows in (rows for rows in found if rows.rows):
        reader = _reader(rows, reading, source, told)
        for row in rows.rows:
            try:
                read.append((reader(row), row))
            except (RowError, RecordError) as error:
                reason = error.reason if isinstance(error, RowError) else "ill_formed"
                unreadable.append(row.unreadable(reason, str(error)))
    if not read:
        first = f": {unreadable[0].id}: {unreadable[0].feedback}" if unreadable else ""
        raise InputError(f"{source}: no row can be read{first}; look at --columns")
    problems = _with_ids(problem for problem, _ in read)
    rows_ = {problem.id: row for problem, (_, row) in zip(problems, read, strict=True)}
    return Labelled(problems, unreadable, rows_, told)


def _reader(rows: Rows, reading: Reading, source: str, told: list[str]) -> Callable[[Row], Problem]:
    """Return what reads a row as its problem, and say how rows are read."""
    known = columns_of(rows.rows)
    if "problem" in known and is_object(rows.rows[0].values.get("problem")):
        told.append("read as attempts: their problems, each once for each attempt")
        return lambda row: read_problem(row.values.get("problem"))
    if {"id", "dataset", "context", "question", "answer"} <= set(known) and not reading.columns:
        told.append("read as problems")
        return lambda row: read_problem(row.values)
    shape = shape_of(known, reading.columns, source, rows.rows[0].values, ("question", "answer"))
    if "answer" not in shape.columns:
        raise InputError(f"{source}: no column is known to be the gold label; say which by --columns answer=NAME")
    told.append(shape.told())
    return lambda row: _asked(row, parts_of(row.values, shape), reading)


def _asked(row: Row, parts: Parts, reading: Reading) -> Problem:
    """Return the problem of a row of a table, with its label; raises `RowError`."""
    language = language_of(parts.told, str(parts.question))
    told = str(parts.answer).strip().lower()
    if reading.dataset in (None, "syllogism") and language == "syllogism" and parts.options is None:
        answer = _VALIDITY.get(reading.answers.get(told, told), parts.answer)
        parts = replace(parts, options=list(OPTIONS), answer=answer)
    name = row.id if parts.id is None else f"{row.file}/{parts.id}"
    problem = read_asked(parts, name=name, dataset=reading.dataset or UNNAMED, answers=reading.answers)
    return problem if reading.dataset is not None else replace(problem, dataset=language)


Outcome = Literal["right", "wrong", "by reading", "not checked"]
RIGHT, WRONG, BY_READING, NOT_CHECKED = "right", "wrong", "by reading", "not checked"
EMPTY, MEMBERS = "classes may be empty", "every class has members"
OPEN, CLOSED = "open world", "closed world"
READINGS = (EMPTY, MEMBERS, OPEN, CLOSED)
DISAGREE = "formalisation_disagrees"
UNREAD = ("context_not_read", "question_not_read", "text_not_read", "no_reference")
"""Reasons why nothing was made of a text."""
_SECOND = "solver"
_WORDS = ("true", "false", "unknown", "uncertain", "valid", "invalid", "yes", "no")
MAX_SHOWN = 400
"""Characters of a proof or a model in a table."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of the audit of one label."""

    problem: Problem
    """With its label."""
    outcome: Outcome
    reason: str
    feedback: str = ""
    proved: str | None = None
    """The answer that is proved, in the problem's own terms; of several readings that of the text as it stands."""
    readings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Answer that is proved in each reading, where they differ."""
    proofs: tuple[Trace, ...] = ()
    """The certified attempts that the finding rests on."""

    @property
    def grade(self) -> str | None:
        """The best grade of its certificates."""
        grades = {proof.judged.grade for proof in self.proofs}
        return next((grade for grade in GRADES if grade in grades), None)

    def record(self) -> dict[str, object]:
        """Return the columns that are added to a row."""
        return {
            "id": self.problem.id,
            "gold": _shown(self.problem, self.problem.answer),
            "outcome": self.outcome,
            "proved": _shown(self.problem, self.proved),
            "reason": self.reason,
            "feedback": self.feedback,
            "readings": {name: _shown(self.problem, claim) for name, claim in self.readings.items()},
            "ways": [way_of(proof) for proof in self.proofs],
            "grade": self.grade,
            "shown": evidence(self),
            "certificates": [proof.judged.digest for proof in self.proofs],
        }


def way_of(proof: Trace) -> str:
    """Return the name of the way that a solution took."""
    return proof.id.rpartition("#")[2]


def audited(problems: Sequence[Problem], judging: Judging, *, quick: bool = False) -> list[Finding]:
    """Return a finding for each label, in order; `quick`: a second way for labels alone that the first calls wrong."""
    quickest = [way for way in WAYS if way != _SECOND]
    tried = _tried(problems, quickest, judging)
    peopled = {p.id: again for p in problems if (again := _peopled(p, _finding(p, tried[p.id]))) is not None}
    tried |= _tried(peopled.values(), quickest, judging)
    found = [_read(problem, peopled.get(problem.id), tried) for problem in problems]
    left = [f.problem for f in found if not quick or f.outcome in (WRONG, NOT_CHECKED)]
    again = _tried([*left, *(peopled[p.id] for p in left if p.id in peopled)], [_SECOND], judging)
    tried |= {id_: [*tried[id_], *more] for id_, more in again.items()}
    found = [_read(problem, peopled.get(problem.id), tried) for problem in problems]
    is_open = any(f.outcome == RIGHT and _is_unknown(f.problem, f.proved) for f in found)
    return [_in_its_world(finding, is_open) for finding in found]


def _tried(problems: Iterable[Problem], ways: Sequence[str], judging: Judging) -> dict[str, list[Trace]]:
    """Return the judged solutions of each problem, by its id."""
    made = {p.id: [found for way in ways if (found := solution(p, way)) is not None] for p in problems}
    told = judged((trace for listed in made.values() for trace in listed), judging)
    return {id_: [next(told) for _ in listed] for id_, listed in made.items()}


def _read(problem: Problem, peopled: Problem | None, tried: Mapping[str, Sequence[Trace]]) -> Finding:
    """Return a problem's finding; of a syllogism that needs it, joined with that where its classes have members."""
    bare = _finding(problem, tried[problem.id])
    if peopled is None:
        return bare
    members = _finding(peopled, tried[peopled.id])
    if NOT_CHECKED in (bare.outcome, members.outcome) or bare.proved is None or members.proved is None:
        feedback = "whether it follows if every class has members is not decided"
        return Finding(problem, NOT_CHECKED, "existence_not_decided", feedback)
    readings = {EMPTY: bare.proved, MEMBERS: members.proved}
    both = replace(bare, readings=readings, proofs=(*bare.proofs, *members.proofs))
    return both if bare.outcome == members.outcome else replace(both, outcome=BY_READING, reason="existence")


def _finding(problem: Problem, tried: Sequence[Trace]) -> Finding:
    """Lay what is certified beside the label."""
    proofs = tuple(t for t in tried if t.judged.grade in STRICT and not t.judged.unread)
    claims = {_claim(problem, proof) for proof in proofs}
    if problem.answer is None:
        return Finding(problem, NOT_CHECKED, "no_gold_label")
    if clash := next((t for t in tried if t.judged.verdict == "vacuous" and "inconsistent" in t.judged.reason), None):
        # Attack: statements that contradict each other prove the label, and its opposite.
        return Finding(problem, NOT_CHECKED, clash.judged.reason, clash.judged.feedback)
    if len(claims) > 1 or None in claims:
        # Attack: a reader's mistake that one way makes and the other does not.
        return Finding(problem, NOT_CHECKED, "ways_disagree", "two ways prove different answers", proofs=proofs)
    if not claims:
        if not tried:
            return Finding(problem, NOT_CHECKED, *why_unread(problem))
        if (trusted := next((t for t in tried if t.judged.is_certified), None)) is not None:
            told = "agree" if _claim(problem, trusted) == problem.answer else "disagree"
            said = f"formulas that the text does not bear out, and that {told} with the label"
            return Finding(problem, NOT_CHECKED, f"on_trust_{told}", said)
        return Finding(problem, NOT_CHECKED, tried[0].judged.reason, tried[0].judged.feedback)
    (claim,) = claims
    if claim == "unknown" and (problem.dataset, problem.options, problem.answer) == ("syllogism", None, "false"):
        claim = "false"  # such a label says no more than that something does not follow: it need not be refuted
    if claim == problem.answer:
        return Finding(problem, RIGHT, "proved", proved=claim, proofs=proofs)
    # Of the readers, ours alone: nobody's annotation reads the text, even where its words fit it.
    is_own = problem.formal is None and problem.meta.get("premises_fol") is None
    if not {proof.judged.grade for proof in proofs} & ({"checked", "aligned"} if is_own else {"checked"}):
        if claim == "unknown" and problem.answer == "false":
            said = "in an open world nothing follows, which a closed one calls false"
            return Finding(problem, NOT_CHECKED, "world_not_known", said, proved=claim, proofs=proofs)
        # Attack: call a label wrong because its annotators formalised another sentence than they wrote.
        said = "the formalisation that came with the problem says otherwise; one of the two is wrong"
        return Finding(problem, NOT_CHECKED, DISAGREE, said, proved=claim, proofs=proofs)
    if is_own and (doubt := _doubt(problem)) is not None:
        # Attack: `A dog is kind.` may be said of one dog; that all dogs are is no proof of a mistake.
        return Finding(problem, NOT_CHECKED, "doubtful_reading", doubt, proved=claim, proofs=proofs)
    return Finding(problem, WRONG, "proved_otherwise", proved=claim, proofs=proofs)


def _doubt(problem: Problem) -> str | None:
    """Return what may be meant otherwise than it is read, in English that is nobody's data set; None where nothing."""
    if problem.dataset in TRANSLATORS or problem.dataset in LOADERS:
        return None
    if re.search(r"\b(?:or|not)\b|n't\b", problem.question, re.IGNORECASE):
        return "the question denies something, or has an `or`, which people answer in two ways"
    if found := re.search(r"(?:^|[.!?]\s+)(An? \w[^.!?]*)", problem.context):
        return f"{found[1]!r} may be said of one, or of all"
    doubtful = (word for word in re.findall(r"\w+", problem.context) if is_ambiguous(word))
    return next((f"{word!r} may be the plural of two words" for word in doubtful), None)


def _claim(problem: Problem, proof: Trace) -> str | None:
    """Return what a solution proves in the terms of the problem, of which it may be a restatement."""
    said = proof.judged.answer
    return said if said is None or proof.problem.options == problem.options else in_terms_of(said, problem.options)


def _peopled(problem: Problem, finding: Finding) -> Problem | None:
    """Return a syllogism with a sentence that its classes have members, where that may decide it."""
    if (
        problem.dataset != "syllogism"
        or finding.proved is None
        or finding.proved == in_terms_of("true", problem.options)
    ):
        return None
    try:
        context = syllogism.peopled(problem.context, problem.question)
    except TranslationError:
        return None
    return replace(problem, id=f"{problem.id}#members", context=context, formal=None)


def _in_its_world(finding: Finding, is_open: bool) -> Finding:
    """Return the finding of a label `false` or `true` where nothing follows, which a closed world would decide.

    A world is open where its data set is declared so, or an option or another label that is right is `unknown`.
    """
    problem = finding.problem
    if finding.outcome != WRONG or not _is_unknown(problem, finding.proved):
        return finding
    if is_open or problem.options is not None or semantics_of(problem.dataset).forward:
        return finding
    if problem.answer not in ("false", "true") or _denies_in_a_rule(problem):
        # Attack: call negation as failure an error, where `if Tom is not known to be kind` is meant.
        return Finding(problem, NOT_CHECKED, "world_not_known", "a closed world may decide it otherwise")
    if problem.answer == "true":
        return finding  # what rules without negation do not give is false in a closed world, and open in an open one
    readings = {OPEN: "unknown", CLOSED: "false"}
    return replace(finding, outcome=BY_READING, reason="world", readings=readings)


def _is_unknown(problem: Problem, answer: str | None) -> bool:
    unknown = in_terms_of("unknown", problem.options)  # `invalid` of a syllogism is another answer of the same letter
    return answer is not None and answer == unknown != in_terms_of("invalid", problem.options)


def _denies_in_a_rule(problem: Problem) -> bool:
    """Say whether a rule has a denial among its conditions, or nobody knows."""
    try:
        known = reference(replace(problem, answer=None))
        if known is None:
            return True
        read = map(parse_statement, known.formal.axioms)
        return any(not isinstance(s, Stated) and not all(p.positive for p in s.premises) for s in read)
    except (ReferenceMismatch, ValueError):
        return True


def _shown(problem: Problem, answer: str | None) -> str | None:
    """Return an answer as a word where its option is one, else as it is."""
    if answer is None or problem.options is None:
        return answer
    said = problem.options[ord(answer) - ord("A")].removeprefix(f"{answer})").strip(" .").lower()
    return said if said in _WORDS else answer


def evidence(finding: Finding) -> str:
    """Return in a line what a finding rests on: a counter-model where there is one, else the last steps of a proof."""
    told = list(map(_shown_proof, finding.proofs))
    chosen = next((each for each in reversed(told) if each.startswith("a case")), next(iter(told), ""))
    return chosen if len(chosen) <= MAX_SHOWN else f"{chosen[: MAX_SHOWN - 2]}.."


def _shown_proof(proof: Trace) -> str:
    """Say which things a model has in which the conclusion fails although all premises hold, or how a proof ends."""
    certificate: Values = proof.judged.certificate or {}
    fields: Values = certificate.get("evidence") or {}
    models: Values = fields.get("models") or {}
    fails: Values | None = models.get("fails")
    if fails and fields["result"] == "unknown":
        names: Mapping[int, str] = {number: name for name, number in fails["constants"].items()}
        rows_of: Mapping[str, Sequence[Sequence[int]]] = {
            symbol.partition("/")[0]: rows for symbol, rows in fails["predicates"].items()
        }
        said = {
            name: ", ".join("-".join(names.get(n, f"#{n}") for n in row) for row in rows_of[name]) for name in rows_of
        }
        told = "; ".join(f"{name}: {who or 'none'}" for name, who in said.items())
        return f"a case where all is so and the conclusion is not: {told}"
    if str(certificate.get("kind", "")).endswith("saturation"):
        return f"neither {fields['goal']} nor its denial follows, when all that follows is inferred"
    for key, said in (("steps", "statement"), ("entries", "says")):
        listed: Sequence[Mapping[str, str]] = fields.get(key) or ()
        if listed:
            return f"proof, its end: {'; '.join(each[said] for each in listed[-6:])}"
    if "conclusion" in fields:
        return f"the solver: {fields['conclusion']} is {fields['result']}"
    return f"{way_of(proof)}: every case was tried"
