"""The critic of texts about any context that the grammar reads: English is read, and no formulas are asked for.

Each sentence of the text is taken apart into moves (`critics.text.english.discourse`), whose statements the grammar
reads with the words of the problem. A claim must follow from the context and the claims before it with at most one
rule; one that is cited by number must stand there; what is said not to be known must be open. The verdict must be the
same whether `either .. or` means at least one or exactly one. `unknown` is certified only where the whole context is
read and no phrase of context or question stands alone; of data sets with a regular language, where the question's
phrases stand in the context.

Where a context leaves something unsaid, the verdict's feedback names the fact that a proof lacks, and the phrase that
is nearest to a claim's; a user may declare it (`axioms`). Nothing of that is believed.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from itertools import combinations, islice, permutations, product

from critics.formats.english.entailed_text import (
    BadMove,
    Case,
    Outcome,
    Told,
    chain_certificate,
    models_of,
)
from critics.formats.english.objects import of_no_object, of_objects
from critics.formats.english.reasoner import Reasoner
from critics.grammar.chart import SAYS_LESS
from critics.grammar.frames import overruling
from critics.grammar.inflection import article, singular
from critics.grammar.lexicon import third_person
from critics.grammar.meaning import filled
from critics.grammar.reader import Reader, Reading
from critics.grammar.subjects import ALL_THE
from critics.logic.first_order.knowledge import Knowledge
from critics.logic.first_order.solvers import Answer, can_fail, decide
from critics.problem import AXIOMS, SETTLED, Attempt, Problem
from critics.replay.answers import in_terms_of
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.reader import canonical
from critics.replay.semantics import semantics_of
from critics.text.blocks import answer_of
from critics.text.english import phrases
from critics.text.english.discourse import moves
from critics.text.english.individuals import Individuals
from critics.text.english.moves import Aim, Assumed, Claim, Contradicts, Given, Judged, Move, Named, NoneAbout, NotKnown
from critics.text.english.passage import TextSentence, coverage, lines, painted, repeated
from critics.text.english.statements import CONVENTIONS, Statements, axioms_of, settled
from critics.text.reference import text_contradicts
from critics.verdict import Certified, CriticError, Malformed, Unproved, Verdict
from critics.verdict.conclusion import Refusal, brief, is_wrong, refused, wrong_answer
from critics.verdict.reading import NOT_READ, TOO_MUCH_WORK, BadStep, Span, TextReading

MAX_FACTS = 30
"""Facts that are tried for one claim: each asks a solver."""


def remedy(reader: Reader, premises: Sequence[fo.Formula], claim: fo.Formula) -> str:
    """Return what would prove a claim that does not follow, for the feedback; empty where nothing is found."""
    heard = {name for premise in premises for name in fo.predicates(premise)}
    facts = [part for premise in premises for part in fo.conjuncts(premise) if isinstance(part, fo.Atom)]
    own = {fact.predicate for fact in facts if set(fact.arguments) & set(fo.terms(claim))}
    for name in sorted(fo.predicates(claim)):
        others = own if name in heard else own | heard
        if near := get_close_matches(name, sorted(others - {name}), n=1, cutoff=0.6):
            return f"; you say {name.replace(' _', '')!r}, the context says {near[0].replace(' _', '')!r}"
    for fact in list(_facts(premises, claim))[:MAX_FACTS]:
        more = [*premises, fact]
        if can_fail(more, claim) is Answer.UNSATISFIABLE and decide(more, claim).result == "true":
            return f"; proved if: {spelled(reader, fact)}"
    return ""


def sorts(premises: Sequence[fo.Formula], goal: fo.Formula, context: str) -> list[fo.Formula]:
    """Return what a context may take for granted of the things it names: `cat(tom)` where it tells of cats that bark.

    A noun counts that narrows what a rule is about, beside another condition, and is said of no thing by name.
    """
    told = {part.predicate for each in (*premises, goal) for part in fo.conjuncts(each) if isinstance(part, fo.Atom)}
    told_of = {part.predicate: part for part in _atoms((*premises, goal))}
    found: set[str] = set()
    for rule in premises:
        while isinstance(rule, fo.Quantified):
            rule = rule.body
        if isinstance(rule, fo.Compound) and rule.operator is fo.Operator.IMPLIES:
            first, *others = fo.conjuncts(rule.operands[0])
            found |= {first.predicate} if others and isinstance(first, fo.Atom) and len(first.arguments) == 1 else set()
    # `If an animal barks`, `students who work`; of ProofWriter's `rough, kind things` none is a noun.
    noun = r"(?i:\ban? (?:[a-z]+ )?{0}\b|\b{0}(?:s|es)? (?:that|who|which|with|in|of|from|[a-z]+(?:ed|ing))\b)"
    found = {kind for kind in found if re.search(noun.format(re.escape(kind)), context)}
    named = {term for term in fo.terms(goal) if isinstance(term, fo.Constant)}
    own: list[fo.Formula] = [
        fo.Atom(kind, (name,)) for kind in sorted(found - told) for name in sorted(named, key=lambda each: each.name)
    ]
    # `Koalas are quokkas`: there are koalas.
    there_are = goal
    while isinstance(there_are, fo.Quantified) and there_are.quantifier is fo.Quantifier.ALL:
        there_are = there_are.body
    if there_are is not goal and isinstance(there_are, fo.Compound) and there_are.operator is fo.Operator.IMPLIES:
        there_are = there_are.operands[0]
        for name in sorted({term.name for term in fo.terms(there_are) if isinstance(term, fo.Variable)}):
            there_are = fo.Quantified(fo.Quantifier.SOME, name, there_are)
        own.append(there_are)
    return [*own, *_parts(told_of), *_several([*premises, goal])]


def _several(formulas: Sequence[fo.Formula]) -> Iterator[fo.Formula]:
    """Yield that what is said of each may be so of several: the tests are tests, and pass where each does."""
    names = {name for each in formulas for name in fo.predicates(each)}
    for name in sorted({name for each in formulas for name in fo.constants(each) if name.startswith(ALL_THE)}):
        many = fo.Constant(name)
        yield from (fo.Atom(kind, (many,)) for kind in sorted(names) if kind == singular(name.split(" ")[-1]))
        for said in sorted(names):
            each = next((each for each in names if f"they {each.removeprefix('do ')}" == said), None)
            if each is not None:
                yield fo.Compound(fo.Operator.IMPLIES, (fo.Atom(each, (many,)), fo.Atom(said, (many,))))


def _parts(atoms: Mapping[str, fo.Atom]) -> Iterator[fo.Formula]:
    """Yield what a phrase may say in part, of phrases by their names: a big dog is perhaps a dog."""
    for (name, whole), (other, part) in permutations(atoms.items(), 2):
        terms, size = [fo.Variable(f"x{at}") for at in range(len(whole.arguments))], len(part.arguments)
        if {*other.split(" ")} < {*name.split(" ")} and size <= len(terms):
            said = (fo.Atom(name, tuple(terms)), fo.Atom(other, (terms[0], *terms[len(terms) - size + 1 :])))
            formula: fo.Formula = fo.Compound(fo.Operator.IMPLIES, said)
            for term in terms:
                formula = fo.Quantified(fo.Quantifier.ALL, term.name, formula)
            yield formula


def _atoms(formulas: Sequence[fo.Formula]) -> list[fo.Atom]:
    return [part for each in formulas for part in fo.subformulas(each) if isinstance(part, fo.Atom)]


def _facts(premises: Sequence[fo.Formula], claim: fo.Formula) -> Iterator[fo.Formula]:
    """Yield what the rules ask of something, said of the things that a claim names."""
    names = sorted({term for term in fo.terms(claim) if isinstance(term, fo.Constant)}, key=lambda each: each.name)
    seen = {fo.key(claim)}
    for part in _atoms(premises):
        inner = {term for term in part.arguments if isinstance(term, fo.Variable)}
        for name in names if len(inner) == 1 else ():
            fact = replace(part, arguments=tuple(name if term in inner else term for term in part.arguments))
            if fo.key(fact) not in seen:
                seen.add(fo.key(fact))
                yield fact


def spelled(reader: Reader, fact: fo.Formula) -> str:
    """Return a fact as a sentence that reads back as this fact; as a formula where none does."""
    if not isinstance(fact, fo.Atom) or not all(isinstance(each, fo.Constant) for each in fact.arguments):
        return canonical(fact)
    subject, *others = [_named(each) for each in fact.arguments]
    words = [
        others.pop(0) if word == "_" and others else word for word in fact.predicate.removeprefix("do ").split(" ")
    ]
    said = " ".join(words)
    for text in (f"is {article(said)} {said}", f"is {said}", " ".join([third_person(words[0]), *words[1:]])):
        sentence = f"{subject[:1].upper()}{subject[1:]} {text}"
        found = reader.read(sentence)
        if isinstance(found, Reading) and fo.key(found.formula) == fo.key(fact):
            return sentence
    return canonical(fact)


def _named(term: object) -> str:
    name = term.name if isinstance(term, fo.Constant) else str(term)
    return name if name.startswith("the ") else name.title()


MAX_REWORDED = 600
"""Other meanings of phrases and names that are tried of one problem: each asks a solver."""
MAX_SENTENCES = 200
MAX_CHARACTERS = 30_000


def judge_readings(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one text by what the grammar reads of problem and text; bounded by a solver's budget for each claim."""
    text = attempt.completion
    said = list(islice(lines(text, problem.question), MAX_SENTENCES + 1))
    if len(text) > MAX_CHARACTERS or len(said) > MAX_SENTENCES:
        return Malformed("too_long", None, f"more than {MAX_SENTENCES} sentences or {MAX_CHARACTERS} characters")
    try:
        outcome, case = _outcome(problem, said)
        verdict = _verdict(problem, text, case, outcome)
        unsaid = outcome.unsaid if isinstance(verdict, Certified) else None
        return replace(verdict, reading=replace(_reading(text, case), unsaid=unsaid))
    except BadMove as bad:
        said = bad.refusal.feedback.removeprefix(f"{bad.text!r}: ")
        reason = {"not_read": NOT_READ, "solver_budget": TOO_MUCH_WORK}.get(bad.refusal.reason, said)
        first = BadStep(bad.index, bad.text, reason)
        return replace(refused(bad.refusal, problem, None), reading=_reading(text, bad.case, before=first))
    except Refusal as refusal:
        return refused(refusal, problem, None)
    except fo.FormulaError as error:
        return Malformed(error.reason, None, brief(str(error)))


def _outcome(problem: Problem, said: Sequence[TextSentence]) -> tuple[Outcome, Case]:
    """Return what the text proves under every reading of `either`; raises `Refusal`."""
    conventions = CONVENTIONS.get(settled(problem))
    statements = Statements(problem.context, problem.question, conventions, axioms_of(problem))
    outcomes: list[tuple[Outcome, Case]] = []
    for exclusive in (False, True) if statements.has_either(said) else (False,):
        case, lost = _case(problem, statements, said, exclusive=exclusive)
        try:
            reasoner = Reasoner(case)
            reasoner.tell()
            if lost is not None:
                raise lost
            outcomes.append((reasoner.outcome(), case))
        except BadMove as bad:
            bad.case = case
            if bad.claim is not None:
                lacking = remedy(statements.problem.reader, case.premises, bad.claim)
                bad.refusal = Refusal(bad.refusal.kind, bad.refusal.reason, f"{bad.refusal.feedback}{lacking}")
            raise
    if len({outcome.value for outcome, _ in outcomes}) > 1:
        raise Refusal(Unproved, "text_says_otherwise", "the answer depends on whether `either` means one or both")
    return outcomes[0]


def _case(
    problem: Problem, statements: Statements, said: Sequence[TextSentence], *, exclusive: bool
) -> tuple[Case, BadMove | None]:
    """Return what is read of problem and text, and the first sentence that is not; raises `Refusal`."""
    context = statements.problem.context()
    if not context:
        raise Refusal(CriticError, "context_not_read", "there is no context (of a table: --columns context=NAME)")
    places = {
        number: at for at, number in enumerate(n for n, each in enumerate(context, 1) if isinstance(each, Reading))
    }
    if isinstance(context[-1], Reading):
        # The last premise is also cited as that.
        places[0] = len(places) - 1
    read = [each for each in context if isinstance(each, Reading)]
    unread = [each.text for each in context if not isinstance(each, Reading)]
    if (other := overruling((), unread)) is not None:
        # Attack: `Every cat is warm. Exception: Rex.`
        why = f"{other!r} is not read, and may take back what the rest says"
        raise Refusal(CriticError, "context_not_read", why)
    goal = statements.goal(exclusive=exclusive)
    for each in read:
        statements.note(each)
    premises = tuple(each.exclusive if exclusive else each.formula for each in read)
    premises += tuple(statements.declared(exclusive=exclusive))
    told: list[Told] = []
    lost: BadMove | None = None
    parse = partial(moves, reads=statements.reads, question=problem.question, is_fact=statements.is_fact)
    people = Individuals(parse, statements.reads, f"{problem.context} {problem.question}")
    for index, line in enumerate(said):
        text = line.passage.part(0).text
        heading = phrases.QUESTION_LEADS.fullmatch(text)
        if heading is not None and heading["heading"] is not None:
            statements.turn_to(heading["heading"])
        found = people.moves(text) if line.is_readable else None
        assumes = found is not None and any(isinstance(move, Assumed) for move in found)
        if found is None or (assumes and semantics_of(settled(problem)).forward):
            word = statements.unread(text)
            why = f"{line.passage.text!r}{': nothing may be assumed here' if assumes else f' is not read{word}'}"
            lost = BadMove(index, line.passage.text, Refusal(Malformed, "not_read", why))
            break
        spelled = [each for move in found for each in _spelled(move, problem, [*premises, goal], statements.last)]
        try:
            told.append(Told(line, tuple(_with_formulas(spelled, statements, index, line, exclusive=exclusive))))
        except BadMove as bad:
            lost = bad
            break
    if lost is None and (often := repeated(said)) is not None:
        refusal = Refusal(Unproved, "repeated_step", "the sentence is said again and again")
        lost = BadMove(often, said[often].passage.text, refusal)
    granted = [] if settled(problem) in CONVENTIONS else _granted(statements, [*premises, goal], told)
    is_whole = len(read) == len(context) and not any(SAYS_LESS in each.conventions for each in read)
    mean = of_no_object([*premises, goal])
    moved = (Told(each.line, tuple((move, said and mean(said)) for move, said in each.moves)) for each in told)
    known = (*map(mean, premises), *granted)
    return Case(known, places, mean(goal), tuple(moved), is_whole, tuple(statements.chosen), len(granted)), lost


def _granted(statements: Statements, formulas: Sequence[fo.Formula], told: Sequence[Told]) -> list[fo.Formula]:
    """Return what the words of problem and text have to do with one another."""
    claims = (move.text or "" for each in told for move, formula in each.moves if formula is not None)
    texts = dict.fromkeys([statements.problem.question().text, *statements.problem.said, *claims])
    heard = {name for formula in formulas for name in fo.predicates(formula)}
    return of_objects(lambda text: statements.problem.read_at_cost(text)[0], texts, heard)


def _is_open_anyway(premises: Sequence[fo.Formula], goal: fo.Formula) -> bool:
    """Say whether nothing is decided whatever the phrases of one sentence alone mean, nor where two names are one.

    `Every physician is rich. Tom is a doctor` leaves open what a reader does not.
    """
    for number, (*others, asked) in enumerate(_reworded([*premises, goal])):
        known = Knowledge(others, [asked])
        sides = [known.follows(each, range(len(others))) for each in (asked, fo.negated(asked))]
        if number >= MAX_REWORDED or sides not in ([Answer.SATISFIABLE] * 2, [Answer.UNSATISFIABLE] * 2):
            return False
    return True


def _reworded(formulas: Sequence[fo.Formula]) -> Iterator[list[fo.Formula]]:
    """Yield formulas with each phrase that stands in one alone as another, or as its denial, and two names as one."""
    atoms = {part.predicate: len(part.arguments) for part in _atoms(formulas)}
    counts = Counter(name for formula in formulas for name in fo.predicates(formula))
    alone = [name for name in sorted(counts) if counts[name] == 1]

    def put(formula: fo.Formula, meant: Mapping[str, tuple[str, bool]]) -> fo.Formula:
        if isinstance(formula, fo.Atom) and formula.predicate in meant:
            name, denied = meant[formula.predicate]
            return fo.Not(fo.Atom(name, formula.arguments)) if denied else fo.Atom(name, formula.arguments)
        return fo.rebuilt(formula, lambda part: put(part, meant))

    names = sorted({name for formula in formulas for name in fo.constants(formula)}) if alone else []
    for one, other in combinations(map(fo.Constant, names), 2):
        yield [filled(each, one, other) for each in formulas]
    meanings = [
        [(other, no) for other in atoms if atoms[other] == atoms[name] for no in (False, True)] for name in alone
    ]
    for meant in product(*meanings) if alone else ():
        yield [put(each, dict(zip(alone, meant, strict=True))) for each in formulas]


def _spelled(
    move: Move, problem: Problem, formulas: Sequence[fo.Formula], last: str | None
) -> Iterator[tuple[Move, fo.Formula | None]]:
    """Yield `nothing is known of Bob's age` as `not known whether Bob is young` with the formula, and so on."""
    if isinstance(move, Judged):
        move = replace(move, value=_value(move.value, problem))
    if isinstance(move, NoneAbout):
        # `His age`: of whom the text spoke last.
        whose = ("his", "her", "its", "their", "him", "it")
        move = replace(move, names=tuple(last or name if name in whose else name for name in move.names))
    if not isinstance(move, NoneAbout) or (len(move.names) == 1 and not move.traits):
        yield move, None
        return
    atoms = {(part.predicate, len(part.arguments)) for part in _atoms(formulas)}
    names = list(map(fo.Constant, move.names))
    unheard = {trait for trait in move.traits if trait[0] == " "}
    for predicate, arity in sorted(atoms):
        # A noun stands between blanks, within a phrase.
        told = {each for each in move.traits if each == predicate or (each[0] == " " and each in f" {predicate} ")}
        if arity == len(names) and (len(names) > 1 or told):
            unheard -= told
            for arguments in permutations(names):
                yield NotKnown(" ".join(move.names), both_ways=True), fo.Atom(predicate, arguments)
    if unheard:
        # Attack: nothing is known of Tom's car, and no sentence speaks of cars.
        yield NotKnown(min(unheard), both_ways=True), None


def _value(said: str, problem: Problem) -> str:
    """Return what an answer in the problem's terms says; the answer itself where that is nothing."""
    named = answer_of(said, problem)
    values = ("true", "false", "unknown")
    of_arguments = {"valid": "true", "invalid": "unknown"} if problem.options is None else {}
    agreed = ({"yes": "true", "no": "false"} | of_arguments).get(said, said)
    return next(
        (value for value in values if named is not None and in_terms_of(value, problem.options) == named), agreed
    )


def _with_formulas(
    found: Sequence[tuple[Move, fo.Formula | None]],
    statements: Statements,
    index: int,
    line: TextSentence,
    *,
    exclusive: bool,
) -> list[tuple[Move, fo.Formula | None]]:
    # A pronoun means who was spoken of before it, also where the reasons stand behind: Tom is warm, as all cats are.
    places = [line.passage.text.find(move.text or "") for move, _ in found]
    order = sorted(range(len(found)), key=places.__getitem__) if min(places, default=-1) >= 0 else range(len(found))
    read: dict[int, fo.Formula | None] = {}
    for at in order:
        move, formula = found[at]
        text = "" if formula is not None else move.text
        if text:
            inferred = isinstance(move, Claim) and move.inferred
            is_aside = order != range(len(found)) and any(places[at] > later for later in places[at + 1 :])
            formula = statements.next_formula(
                text, exclusive=exclusive, sentence=index, inferred=inferred, is_aside=is_aside
            )
        if text and formula is None:
            raise BadMove(index, line.passage.text, Refusal(Malformed, "not_read", f"{text!r} is not read"))
        is_denial = formula is not None and any(isinstance(part, fo.Not) for part in fo.subformulas(formula))
        if isinstance(move, Claim) and not is_denial and phrases.DENYING_RULES.search(line.passage.text):
            # Attack: a step under the name of another. By modus tollens, Pip is a bird.
            why = Refusal(Unproved, "unsupported_sentence", "a rule of this name ends in a denial")
            raise BadMove(index, line.passage.text, why)
        read[at] = formula
        if isinstance(move, Named):
            statements.turn_to(move.name, is_new=True)
    return [(move, read[at]) for at, (move, _) in enumerate(found)]


def _verdict(problem: Problem, text: str, case: Case, outcome: Outcome) -> Verdict:
    """Certify what the context bears out; raises `Refusal`."""
    value = outcome.value
    answer = in_terms_of(value, problem.options)
    if answer is None:
        raise Refusal(Unproved, "no_option", f"no option, or more than one, says {value}")
    if is_wrong(answer, problem):
        return wrong_answer(answer)
    models = models_of(case.premises, case.goal, value)
    heard = {name for premise in case.premises for name in fo.predicates(premise)}
    named = {name for premise in case.premises for name in fo.constants(premise)}
    is_heard = fo.predicates(case.goal) <= heard and (
        fo.constants(case.goal) <= named or settled(problem) in CONVENTIONS
    )
    is_open = value == "unknown" and settled(problem) not in CONVENTIONS
    is_closed = case.is_whole and is_heard and (not is_open or _is_open_anyway(case.premises, case.goal))
    if value == "unknown" and not is_closed:
        # Attack: ask for what the context says in other words, and answer that nobody knows.
        raise Refusal(Unproved, "goal_not_reached", "a phrase of the question, or of the context, has no twin")
    kinds = sorts(case.premises, case.goal, problem.context) if is_open else []
    if kinds and decide([*case.premises, *kinds], case.goal).result in ("true", "false"):
        # Attack: nothing is known of a Tom of whom the text takes for granted that he is a cat.
        raise Refusal(Unproved, "goal_not_reached", f"it may go without saying: {', '.join(map(canonical, kinds))}")
    declared = axioms_of(problem)
    if text_contradicts(problem, answer, "given" if declared else "none"):
        raise Refusal(Unproved, "text_says_otherwise", "a translator reads the text otherwise")
    beside = {AXIOMS: list(declared), "two_readings": list(case.chosen)}
    read_as = {SETTLED: settled(problem), **{name: told for name, told in beside.items() if told}}
    grade = "given" if declared else "aligned"
    made = chain_certificate(problem, answer, grade, text, read_as, case.premises, case.goal, outcome, models)
    return Certified(answer, made)


def _reading(text: str, case: Case | None, before: BadStep | None = None) -> TextReading:
    told = () if case is None else case.told if before is None else case.told[: before.index]
    stated = {fo.key(part) for said in (case.premises if case else ()) for part in (said, *fo.conjuncts(said))}
    found = painted([_span(each, stated) for each in told], [each.line.passage.span for each in told], text)
    return TextReading(coverage(found, text), found, before)


def _span(told: Told, stated: Collection[str]) -> Span:
    kinds = {type(move) for move, _ in told.moves}
    is_step = kinds & {Claim, Contradicts, Given, NotKnown, NoneAbout}
    kind = "step" if is_step else "answer" if Judged in kinds else "goal" if Aim in kinds else "filler"
    claims = [formula for move, formula in told.moves if isinstance(move, Claim)]
    is_read_out = (claims or Given in kinds) and all(each is not None and fo.key(each) in stated for each in claims)
    return Span(*told.line.passage.span, "premise" if kind == "step" and is_read_out else kind)
