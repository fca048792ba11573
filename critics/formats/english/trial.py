"""Tries a chain of thought sentence by sentence: each claim must be the context's, established, or one step away.

The first sentence that does not hold ends the trial with a `BadSentence` that quotes it. Assumptions open a scope: what
is said under one is given up at its end, but for the implication, or the denial where a contradiction was met.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from critics.problem import Problem
from critics.replay.answers import in_terms_of
from critics.replay.clauses import Implication, OutOfWork, denied, fact, follows
from critics.text.blocks import answer_of
from critics.text.english.language import ProblemLanguage, Said
from critics.text.english.moves import Promise
from critics.text.english.outline import (
    Aim,
    AnswerClaim,
    Assumption,
    Claim,
    Contradiction,
    Filler,
    NothingMore,
    Reasoning,
    Unit,
    UnreadSentence,
)
from critics.text.english.passage import MAX_REPEATED, Passage, TextSentence
from critics.text.english.steps import Ledger, Warrant, num_met
from critics.verdict import Malformed, Refusing, Refuted, TimedOut, Unproved
from critics.verdict.conclusion import BadSentence
from critics.verdict.reading import EARLY, NOT_READ, TOO_MUCH_WORK, BadStep, Kind, Span


@dataclass(slots=True)
class _Scope:
    """Assumption in force, and the place at which the entries under it begin."""

    assumption: int
    start: int


@dataclass(slots=True)
class Trial:
    """The state of one trial."""

    problem: Problem
    language: ProblemLanguage
    ledger: Ledger
    spans: list[Span] = field(default_factory=list[Span])
    claimed: str | None = None
    """The last answer, in the problem's terms."""
    unsaid: dict[str, None] = field(default_factory=dict[str, None])
    """Statements of the context that a step rests on and that no sentence said before it."""
    proved: str | None = None
    """Value that was proved when the last answer was given: true, false or unknown."""
    _index: int = 0
    _line: TextSentence | None = None
    _labels: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    _pending: set[int] = field(default_factory=set[int])
    """Rules that were read out since the last step."""
    _scope: _Scope | None = None
    _recent: set[int] = field(default_factory=set[int])
    """The entry of the last step, and those of all that was said since."""
    _last: tuple[int, ...] = ()
    """The entries of the last claims: what `this contradicts ..` is about."""
    _early: BadStep | None = None
    """The first answer that was given before its proof."""
    _open: BadStep | None = None
    """The first conclusion that was drawn about the question before its proof."""
    _late: BadStep | None = None
    """The first claim after the last answer."""
    _repeated: Counter[str] = field(default_factory=Counter[str])
    _said: set[str] = field(default_factory=set[str])
    """The canonical texts of the clauses that sentences said."""
    _is_asked: bool = False
    """True if the question was said again."""

    def sentence(self, line: TextSentence, units: Sequence[Unit], index: int) -> None:
        """Try one sentence; raises `BadSentence`."""
        self._line, self._index = line, index
        said: list[int] = []
        self._repeated[line.passage.text] += any(map(str.isalpha, line.passage.text))
        if self._repeated[line.passage.text] > MAX_REPEATED:
            # Attack: lengthen the rationale with what is known.
            raise self._refused(Unproved, "repeated_step", "the sentence is said again and again")
        try:
            for unit in units:
                said += self._unit(unit)
        except OutOfWork:
            raise self._refused(TimedOut, "work_limit", TOO_MUCH_WORK) from None
        if line.label is not None and said:
            self._labels[line.label] = tuple(said)

    def end(self) -> None:
        """Check that an answer was given and proved; raises `BadSentence`."""
        if self._early is not None:
            decided = self._decided()
            if decided is not None and {clause.canonical() for clause in self._answered(decided)} <= self._said:
                # Attack: write the answer first and decorate it with a proof.
                raise BadSentence(Unproved, "answer_in_context", EARLY, self._early)
            raise BadSentence(
                Unproved, "goal_not_reached", "the text proves neither the claim nor its denial", self._early
            )
        if self._late is not None:
            raise BadSentence(Unproved, "answer_in_context", "the text goes on after its answer", self._late)
        if self._open is not None and self.proved != "true":
            raise BadSentence(Unproved, "unsupported_sentence", self._open.reason, self._open)
        if self.claimed is None:
            raise BadSentence(Malformed, "no_answer", "no sentence gives an answer (see --columns conclusion=)", None)

    def _unit(self, unit: Unit) -> list[int]:
        if self.claimed is not None and isinstance(unit, Reasoning | Assumption | Contradiction | Aim):
            self._late = self._late or self._bad("the text goes on after its answer")
        match unit:
            case Reasoning():
                self._last = tuple(self._argument(unit))
                return list(self._last)
            case Aim():
                self._aim(unit)
            case AnswerClaim():
                self._answer(unit)
            case Assumption(claim):
                self._assume(claim)
            case Contradiction():
                self._contradict(unit)
            case NothingMore(passage):
                if not self.language.semantics.forward or self.language.unsaid(self._said):
                    raise self._refused(Unproved, "unsupported_sentence", "something else can be inferred")
                self._mark(passage, "step", None)
            case Filler():
                pass
            case UnreadSentence():
                raise self._refused(Malformed, "not_read", NOT_READ)
        return []

    def _aim(self, unit: Aim) -> None:
        if unit.claim is not None and not self._is_goal(unit.claim.said):
            raise self._refused(Unproved, "unsupported_sentence", "the question asks something else")
        decided = self._decided()
        # Attack: say what was refuted once more, in the guise of the question.
        self._refuse_if(unit.force != "asks" and decided == "false", "its denial is proved")
        if unit.force == "concludes" and self._last and decided is None and self.language.source != "syllogism":
            # Of a syllogism the conclusion is what is asked about.
            self._open = self._open or self._bad("it is not proved")
        self._is_asked = True
        self._mark(unit.passage, "goal", None)

    def _argument(self, unit: Reasoning) -> list[int]:
        groups: list[tuple[int, ...]] = []
        for claim in unit.premises:
            entries = self._plain(claim)
            # Attack: one premise too many, in one breath with another: since Pip is a wren and Ned is a newt.
            rules = tuple(at for at in entries if not self.ledger.entries[at].clause.is_fact)
            groups += [*((at,) for at in entries if at not in rules), *([rules] if rules else [])]
        for number in unit.cited:
            if number not in self._labels:
                raise self._refused(Malformed, "not_read", f"there is no sentence {number} before")
            groups.append(self._labels[number])
        if not groups:
            for claim in unit.conclusions if unit.infers else ():
                self._check_inferred(claim)
            return [at for claim in unit.conclusions for at in self._plain(claim)]
        return [at for claim in unit.conclusions for at in self._concluded(claim, groups)]

    def _check_inferred(self, claim: Claim) -> None:
        """Attack: `Ann is red. So Tom is big.`, of which the context says one or the other, or another reason.

        A step uses what was said since the one before, or only what was said at all.
        """
        for clause in claim.said:
            at = self.ledger.find(clause)
            is_stated = at is not None and self.ledger.entries[at].step.how == "context"
            is_asked = clause in self.language.goal and clause.canonical() in self._said
            if at in self._last or (at is not None and (not is_stated or is_asked)):
                continue
            steps = [set(step.premises) for step in self.ledger.steps(clause)]
            said = {one for used in steps for one in used if self.ledger.entries[one].clause.canonical() in self._said}
            is_heard = any(used <= said or not self._recent.isdisjoint(used) for used in steps)
            if not is_heard and (at is not None or (self._recent and steps)):
                raise self._refused(Unproved, "unsupported_sentence", "it does not follow from what is said before it")

    def _plain(self, claim: Claim) -> tuple[int, ...]:
        """Establish a claim for which nothing in particular is given."""
        kinds: set[Kind] = set()
        entries: list[int] = []
        for clause in claim.said:
            at = self.ledger.find(clause)
            if at is None:
                # Attack: put words into the context's mouth.
                self._refuse_if(claim.promise, "the context does not say it")
                self._check_weakened(clause)
                at = self.ledger.add(clause, self._step(clause))
                self.unsaid |= self._left_out(self.ledger.entries[at].step)
                self._pending.clear()
                self._recent.clear()
                kinds.add("step")
            else:
                is_stated = self.ledger.entries[at].step.how == "context"
                if claim.promise is Promise.SHOWN and is_stated:
                    raise self._refused(Unproved, "unsupported_sentence", "the context says it, it was not inferred")
                if claim.promise is Promise.QUOTED and not is_stated:
                    raise self._refused(
                        Unproved, "unsupported_sentence", "the context does not say it, it was inferred"
                    )
                kinds.add("premise" if is_stated else "citation")
                if is_stated and not clause.is_fact:
                    self._pending.add(at)
            entries.append(at)
            self._recent.add(at)
            self._said.add(clause.canonical())
        kind: Kind = "step" if "step" in kinds else "citation" if "citation" in kinds else "premise"
        self._mark(claim.passage, kind, entries[-1])
        return tuple(entries)

    def _check_weakened(self, *said: Implication) -> None:
        if any(clause not in self.language.goal and self.ledger.weakens(clause) for clause in said):
            raise self._refused(Unproved, "unsupported_sentence", "it says less than what is known")

    def _left_out(self, *steps: Warrant) -> dict[str, None]:
        left = [clause for clause in self.ledger.stated(steps) if not self.language.is_granted(clause)]
        return {str(clause): None for clause in left if clause.canonical() not in self._said}

    def _step(self, clause: Implication) -> Warrant:
        """Return the step that gives a clause, by a rule that was just read out where one was."""
        other: Warrant | None = None
        for step in self.ledger.steps(clause):
            used = [at for at in step.premises if not self.ledger.entries[at].clause.is_fact]
            is_granted = all(self.language.is_granted(self.ledger.entries[at].clause) for at in used)
            if not self._pending or is_granted or not self._pending.isdisjoint(used):
                return step
            other = other or step
        # Attack: read out one rule and use another.
        self._refuse_if(other is not None, "it does not follow by the rule that was read out")
        raise self._unsupported(clause)

    def _concluded(self, claim: Claim, groups: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """Establish a claim by what is given for it: all of it must be used."""
        self._refuse_if(claim.promise, "what is concluded is not given")
        if any(len(self.ledger.entries[at].clause.conclusions) > 1 for group in groups for at in group):
            # `Since A or B, C` sums up the cases, and ends the last of them.
            self._close()
        found = self._derived(claim, groups)
        if found is None and self._scope is not None:
            self._close()
            found = self._derived(claim, groups)
        if found is None:
            for clause in claim.said:
                if self.ledger.find(clause) is None and next(self.ledger.steps(clause), None) is None:
                    raise self._unsupported(clause)
            raise self._refused(Unproved, "unsupported_sentence", "it does not follow from what is given for it")
        self._check_weakened(*claim.said)
        entries = tuple(self.ledger.add(clause, step) for clause, step in zip(claim.said, found, strict=True))
        self._said |= {clause.canonical() for clause in claim.said}
        self.unsaid |= self._left_out(*found)
        self._pending.clear()
        self._recent = set(entries)
        self._mark(claim.passage, "step", entries[-1])
        return entries

    def _derived(self, claim: Claim, groups: Sequence[tuple[int, ...]]) -> list[Warrant] | None:
        """Return a step for each clause such that, together, something of every group is used."""
        chosen: list[Warrant] = []
        used: set[int] = set()
        for clause in claim.said:
            known = self.ledger.find(clause)
            best: Warrant | None = None
            if known is not None and len(claim.said) > 1 and any(known in group for group in groups):
                used.add(known)
                chosen.append(self.ledger.entries[known].step)
                continue
            for step in self.ledger.steps(clause):
                if best is None or num_met(groups, {*used, *step.premises}) > num_met(groups, {*used, *best.premises}):
                    best = step
                if num_met(groups, {*used, *best.premises}) == len(groups):
                    break
            if best is None and known is not None and any(known in group and len(group) > 1 for group in groups):
                # A part of a conjunction follows from the whole.
                best = self.ledger.entries[known].step
                used.add(known)
            if best is None:
                return None
            used |= set(best.premises)
            chosen.append(best)
        return chosen if num_met(groups, used) == len(groups) else None

    def _unsupported(self, clause: Implication) -> BadSentence:
        """Return the refusal of a clause that is not one step away: false, a jump, or unsupported."""
        known = [entry.clause for at, entry in enumerate(self.ledger.entries) if at not in self.ledger.hidden]
        opposite = denied((clause,)) or ()
        if self.language.semantics.forward:
            reached = self.language.saturation().known
            holds = clause.is_fact and clause.fact in reached
            fails = bool(opposite) and all(one.fact in reached for one in opposite)
        else:
            holds = follows(known, clause)
            fails = bool(opposite) and all(follows(known, one) for one in opposite)
        if holds:
            return self._refused(Unproved, "skipped_steps", "it does not follow in one step")
        why = "the context says otherwise" if fails else "it does not follow"
        return self._refused(Unproved, "unsupported_sentence", why)

    def _answer(self, unit: AnswerClaim) -> None:
        self._close()
        if self.claimed is not None and unit.passage.text[:5].lower() in ("this ", "that "):
            # Attack: `Answer: no. This is false.`, which may be said of the answer.
            raise self._refused(Malformed, "not_read", "it may be the question that is meant, or the answer")
        if unit.about is not None and not self._is_goal(unit.about.said):
            raise self._refused(Unproved, "unsupported_sentence", "the question asks something else")
        value = answer_of(unit.value, self.problem)
        if value is None:
            raise self._refused(Malformed, "not_read", f"{unit.value!r} is no answer to the question")
        options = self.problem.options
        decided = self._decided()
        if decided is None and value == in_terms_of("unknown", options):
            decided = self._undecided()
        if decided is not None and in_terms_of(decided, options) != value:
            raise self._refused(
                Refuted, "answer_mismatch", f"the steps prove {in_terms_of(decided, options)}, the answer is {value}"
            )
        if decided is None or not (
            unit.about or {clause.canonical() for clause in self._answered(decided)} <= self._said
        ):
            # Attack: the answer alone, where the context says what is asked.
            self._early = self._early or self._bad("the answer is not proved")
        elif not {c.canonical() for claim in unit.because for c in claim.said} <= self._reasons(decided):
            # Attack: `the answer is true because ..` and then anything that holds.
            raise self._refused(Unproved, "unsupported_sentence", "it does not follow from what is given for it")
        self.claimed, self.proved, self._late = value, decided, None
        self._mark(unit.passage, "answer", self._goal_entry())

    def _decided(self) -> str | None:
        """Return whether the goal or its denial is established under no assumption."""
        goal = self.language.goal
        if self._is_established(goal):
            return "true"
        opposite = denied(goal)
        return "false" if opposite is not None and self._is_established(opposite) else None

    def _answered(self, decided: str) -> Said:
        goal = self.language.goal
        return goal if decided == "true" else denied(goal) or () if decided == "false" else ()

    def _reasons(self, decided: str) -> set[str]:
        """Return the canonical texts of what leads to an answer."""
        if decided == "unknown":
            return {clause.canonical() for clause in self.language.bearing()}
        return {clause.canonical() for clause in self.ledger.behind(self._answered(decided))}

    def _undecided(self) -> str | None:
        """Return `unknown` where the semantics lets saturation decide and everything that could decide is said."""
        if not self.language.semantics.forward:
            raise self._refused(
                Unproved, "unknown_not_decided", "that nothing follows is not decided by what can be inferred"
            )
        missing = self.language.unsaid(self._said)
        if missing or not self._is_asked:
            # Attack: answer every problem with `unknown`, which is right for some.
            why = f"{missing[0]} bears on it and is not said" if missing else "the question is not said"
            raise self._refused(Unproved, "axiom_missing", why)
        return "unknown"

    def _is_established(self, said: Said) -> bool:
        return all(at is not None and not self.ledger.entries[at].under for at in map(self.ledger.find, said))

    def _goal_entry(self) -> int | None:
        for said in (self.language.goal, denied(self.language.goal) or ()):
            found = [self.ledger.find(clause) for clause in said]
            if found and found[-1] is not None:
                return found[-1]
        return None

    def _is_goal(self, said: Said) -> bool:
        return {clause.canonical() for clause in said} == {clause.canonical() for clause in self.language.goal}

    def _assume(self, claim: Claim) -> None:
        self._close()
        if self.language.semantics.forward or len(claim.said) != 1 or not claim.said[0].is_fact:
            raise self._refused(Unproved, "unsupported_sentence", "nothing may be assumed here")
        start = len(self.ledger.entries)
        known = self.ledger.find(claim.said[0])
        self._recent.add(start if known is None else known)
        if known is not None:
            self._mark(claim.passage, "citation", known)
            return
        at = self.ledger.add(claim.said[0], Warrant("assumption", ()))
        self._scope = _Scope(at, start)
        self._mark(claim.passage, "citation", at)

    def _contradict(self, unit: Contradiction) -> None:
        scope, entries, passage, claim = self._scope, self.ledger.entries, unit.passage, unit.claim
        if scope is None:
            # What was said last is the denial of the claim, or of the question.
            said = denied(self.language.goal if unit.of_goal else () if claim is None else claim.said) or ()
            places = [at for at in map(self.ledger.find, said) if at in self._last]
            if not said or len(places) < len(said):
                raise self._refused(Unproved, "unsupported_sentence", "nothing is assumed that could be contradicted")
            self._mark(passage, "citation", places[-1])
            return
        last = self._last
        if claim is not None:
            self._plain(claim)
        for one in last:
            clause = entries[one].clause
            other = self.ledger.fact(clause.fact.negated()) if clause.is_fact else None
            if other is not None and (claim is None or entries[other].clause in claim.said):
                opposite = fact(entries[scope.assumption].clause.fact.negated())
                step = Warrant("reductio", (scope.assumption, one, other))
                self.unsaid |= self._left_out(step)
                self._close(step, opposite)
                self._mark(passage, "step", self.ledger.find(opposite))
                return
        raise self._refused(Unproved, "unsupported_sentence", "nothing contradicts it")

    def _close(self, step: Warrant | None = None, concluded: Implication | None = None) -> None:
        """Give up the assumption; keep what follows from it as implications, or its denial."""
        scope, self._scope = self._scope, None
        if scope is None:
            return
        entries = self.ledger.entries
        under = [at for at in range(scope.start, len(entries)) if scope.assumption in entries[at].under]
        assumed = entries[scope.assumption].clause.fact
        self._refuse_if(step is None and len(under) < 2, "the assumption before it is used for nothing")
        self.ledger.hide(under)
        if step is not None and concluded is not None:
            self.ledger.discharge(concluded, step, scope.assumption)
            return
        for at in under:
            clause = entries[at].clause
            if at != scope.assumption and not clause.premises and not clause.variables():
                implied = Implication((assumed,), clause.conclusions)
                self.ledger.discharge(implied, Warrant("discharge", (scope.assumption, at)), scope.assumption)

    def _mark(self, passage: Passage, kind: Kind, by: int | None) -> None:
        if by is not None and kind != "answer":
            self._said.add(self.ledger.entries[by].clause.canonical())
        start, end = passage.span
        self.spans.append(Span(start, end, kind, by))

    def _bad(self, why: str) -> BadStep:
        assert self._line is not None
        return BadStep(self._index, self._line.passage.text, why)

    def _refuse_if(self, wrong: object, why: str) -> None:
        if wrong:
            raise self._refused(Unproved, "unsupported_sentence", why)

    def _refused(self, kind: type[Refusing], reason: str, why: str) -> BadSentence:
        return BadSentence(kind, reason, why, self._bad(why))
