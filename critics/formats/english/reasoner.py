"""Tries the claims of a text against its context, move by move: each must follow, and its reasons be those it needs.

A claim that says less than what is known is refused: a condition whose conclusion holds anyhow, `or` where one side is
known. So is a citation of a premise that does not say so, or has nothing to do with it.
"""

import re

from critics.formats.english.assumptions import Supposition, is_part
from critics.formats.english.entailed_text import BadMove, Case, Outcome
from critics.formats.english.naming import Naming
from critics.formats.english.reasons import can_apply, has_idle_part, is_idle, is_stated, is_unfounded, miscited, says
from critics.logic.first_order.knowledge import Knowledge
from critics.logic.first_order.shapes import asks_for, conditions, converses, is_existential, is_fact, of_some, stronger
from critics.logic.first_order.solvers import Answer
from critics.replay.first_order import syntax as fo
from critics.text.english import moves
from critics.text.english.statements import possibility, ruled_out, speaks_of_abilities
from critics.verdict import Malformed, Unproved
from critics.verdict.conclusion import Refusal

_WOULD = re.compile(r"\bwould\b")
_STEP = re.compile(r"\A\W*step ([1-9]\d?)\b", re.IGNORECASE)


class Reasoner(Naming):
    """A text being tried against its context, move by move."""

    def __init__(self, case: Case) -> None:
        formulas = [formula for told in case.told for _, formula in told.moves if formula is not None]
        possible = [each for formula in formulas if (each := possibility(formula)) is not None]
        idle = [each for said in formulas for each in (*stronger(said), *conditions(said), *converses(said))]
        self._has_abilities = speaks_of_abilities((*case.premises, case.goal))
        modal = [each for each in (*case.premises, case.goal) if possibility(each) is not None]
        self._has_modals = bool(modal)
        self._permitted = {name for each in modal for name in fo.predicates(each) if name.startswith(("may ", "can "))}
        self.individuals, self.silent = {}, {}
        super().__init__(case, Knowledge(case.premises, [*formulas, *possible, *idle, case.goal], case.num_granted))
        self.last_claims: list[fo.Formula] = []
        self.value: str | None = None
        self.is_final = False
        self.before: moves.Move | None = None
        self.left_open = False  # True where what was said last not to be known is the question.
        self.is_open = False  # True where the text says that the question itself is not known.
        self.doubted: tuple[int, str] | None = None
        """First sentence that calls something unknown: its place and its words."""
        self.hoped: tuple[int, str] | None = None
        """The first sentence that concludes what is asked before it is proved."""
        self.early: tuple[int, str, fo.Formula] | None = None
        """The first answer, said before its proof: its place, its words, and what it says."""
        self.last_rule: int | None = None  # That of the step right before.
        self.applied: tuple[str | None, list[int]] | None = None  # To whom a rule is said to apply, and which.
        self.aside: fo.Formula | None = None
        """The last question that is a step on the way."""
        self.is_aside = False
        """True right behind another question than the one that is to be answered."""

    def tell(self) -> None:
        """Take up the text's moves; raises `BadMove` for the first that does not hold."""
        for index, told in enumerate(self.case.told):
            self.index, self.text = index, told.line.passage.text
            start = self.num_before = len(self.claims)
            for move, formula in told.moves:
                self.claimed = formula
                with self._about(move, formula):
                    self._move(move, formula)
                self.before = move
                self.claims += [] if self.claimed is None else [self.claimed]
                numbers = [*filter(None, [told.line.item]), *(-int(number) for number in _STEP.findall(self.text))]
                if isinstance(move, moves.Claim) and formula is not None:
                    for number in numbers:
                        self.labels.setdefault(number, []).append(formula)
            self.last_claims = self.claims[start:] or self.last_claims

    def outcome(self) -> Outcome:
        """Return what the text that was told proves; raises `BadMove` and `Refusal`."""
        if self.early is not None:
            self.index, self.text, said = self.early
            with self._about(moves.Judged(self.value or ""), None):
                self._check_told(said, spelled=True)
                self._supported(said, ())
        self._refuse_if(self.applied is not None, "a rule is said to apply, and nothing follows by it")
        if self.value is None and self.left_open and isinstance(self.before, moves.NotKnown):
            self.value = "unknown"
        if self.doubted is not None and self.value != "unknown":
            # Attack: lengthen a proof by what nobody knows.
            self.index, self.text = self.doubted
            self._refuse_if(True, "that it is not known has nothing to do with the answer")
        if self.hoped is not None and self.value != "true":
            self.index, self.text = self.hoped
            self._refuse_if(True, "it is not proved")
        if self.value is None:
            raise Refusal(Malformed, "no_answer", "the text has no answer, or more than one")
        if self.value == "unknown" and not self.is_open:
            # Attack: say of something else that nobody knows it, and answer the question with that.
            raise Refusal(Unproved, "goal_not_reached", "the text does not say that the question itself is open")
        if not self.num_moves:
            raise Refusal(Unproved, "goal_not_reached", "the text gives no reason for its answer")
        return Outcome(self.value, tuple(self.steps), tuple(self.unsaid))

    def _move(self, move: moves.Move, formula: fo.Formula | None) -> None:
        if self.is_final and not isinstance(move, moves.Judged):
            raise self._bad("answer_in_context", "the text goes on after its answer")
        match move:
            case moves.Claim():
                self._claim(move, self.case.goal if formula is None else formula)
            case moves.NotKnown():
                self._not_known(move, formula)
            case moves.NoneAbout():
                self._none_about(move)
            case moves.Converse() | moves.Given():
                self._check_of_last(move)
            case moves.Applies(cited=numbers):
                cited = [at for number in numbers for at in self._numbered(number)]
                self.applied = move.who, cited or sorted(self.read_out)
                self._refuse_if(not self.applied[1], "no rule was said right before it")
            case moves.Unused():
                self._check_unused(move)
            case moves.NoSource() if formula is not None:
                self._check_source(move, formula)
            case moves.Aim(text="", force="asks"):
                pass
            case moves.Aim():
                self._check_force(move.force)
                self.is_aside = formula is not None and fo.key(formula) != fo.key(self.case.goal)
                self._refuse_if(self.is_aside and not move.on_the_way, "the question is another")
                self.aside = formula if self.is_aside else None
                # Attack: show that Rex is a fish, of whom the premises say that he is none.
                to_show = formula if self.is_aside and move.force == "aims" else None
                if to_show and self.known.gives(fo.negated(to_show), range(self.known.num_premises)):
                    raise self._bad("unsupported_sentence", "the premises deny what is to be shown")
                return
            case moves.Assumed() if formula is not None:
                self._suppose(formula)
            case moves.Contradicts() if self.supposed is not None or self.would is not None:
                self._refute(self.supposed or self._enter(), move, formula)
            case moves.Contradicts(bare=True) if isinstance(self.before, moves.Contradicts):
                pass
            case moves.Contradicts(bare=True):
                raise self._bad("unsupported_sentence", "nothing is assumed that could be contradicted")
            case moves.Contradicts(step=int(step)):
                # Attack: step 1 says something else.
                said = [fo.key(part) for each in self.labels.get(-step, ()) for part in fo.conjuncts(each)]
                if not isinstance(self.before, moves.Aim) or fo.key(fo.negated(self.case.goal)) not in said:
                    raise self._bad("unsupported_sentence", "that step does not deny it")
            case moves.Contradicts():
                if move.of_context and not isinstance(self.before, moves.Aim):
                    raise self._bad("unsupported_sentence", "what contradicts the context is not said")
                places = [at for number in move.cited for at in self._numbered(number)]
                if places and not self.known.gives(fo.negated(formula or self.case.goal), places):
                    raise self._bad("unsupported_sentence", "the premise that is cited does not contradict it")
                self._supported(fo.negated(formula or self.case.goal), ())
                self.num_moves += 1
            case moves.Judged():
                self._judged(move, formula)
            case moves.Named():
                self._name(move, formula)
            case _:
                raise AssertionError(move)
        self.is_aside = False

    def _check_unused(self, move: moves.Unused) -> None:
        """Hold that the rule said last is of no use: its conditions are not met, or no later claim needs it."""
        if move.others:
            told = {fo.key(part) for claim in self.claims for part in (claim, *fo.conjuncts(claim))}
            self._set_aside({place for place in self.known.rules if fo.key(self.known.formulas[place]) not in told})
            return
        rule = next((claim for claim in reversed(self.claims) if not is_fact(claim)), None)
        place = None if rule is None else self.known.keys.get(fo.key(rule))
        if rule is None or place is None:
            # It is some rule of the context that is meant.
            self._not_known(moves.NotKnown("", both_ways=False, of_last=True), None)
            return
        self.read_out.discard(place)
        if not move.unmet:
            self._set_aside({place})
            return
        spoken = {name for claim in (*self.claims[self.num_before :], self.case.goal) for name in fo.constants(claim)}
        is_named = move.who is not None and move.who not in ("him", "her", "it", "them", "us")
        named = {str(move.who).lower()} if is_named else spoken
        self._refuse_if(can_apply(self.known, rule, named), "the rule does apply")

    def _check_source(self, move: moves.NoSource, formula: fo.Formula) -> None:
        """Hold that no premise says or concludes something to the premises; it is no claim of its own."""
        self.claimed = None
        last = self.claims[-1] if move.of_last and self.claims else None
        others = [each for each in self.case.premises if last is None or fo.key(each) != fo.key(last)]
        is_other = move.of_last and (last is None or not says(last, formula, move))
        self._refuse_if(is_other, "that premise does not say so")
        if move.sources == "any":
            is_said = any(fo.predicates(formula) & fo.predicates(each) for each in others)
        else:
            signs = (formula, fo.negated(formula)) if move.both_ways else (formula,)
            is_said = any(says(each, sign, move) for each in others for sign in signs)
        self._refuse_if(is_said, "a premise says so")
        self.num_moves += 1
        if not any(asks_for(claim, formula) for claim in self.claims):
            self.doubted = self.doubted or (self.index, self.text)

    def _check_force(self, force: str) -> None:
        """Hold the question, said again as what is to be shown or was shown, to it."""
        # Attack: say what was refuted once more, in the guise of the question.
        is_denied = fo.key(fo.negated(self.case.goal)) in self.known.keys
        self._refuse_if(force != "asks" and is_denied, "its denial is proved")
        if force == "concludes" and self.claims and fo.key(self.case.goal) not in self.known.keys:
            self.hoped = self.hoped or (self.index, self.text)

    def _claim(self, move: moves.Claim, formula: fo.Formula) -> None:
        formula = formula if self._has_modals else ruled_out(formula, of_abilities=self._has_abilities)
        is_imagined = _WOULD.search(move.text) is not None and self.known.named.isdisjoint(fo.constants(formula))
        is_imagined &= not any("would " in name for name in fo.predicates(formula))
        told = of_some(formula) if is_imagined and re.match("[Ii]f (?:some|an?) ", move.text) else formula
        if is_imagined and self.supposed is None and not conditions(told):
            self._imagined(formula)
            return
        if self.supposed is not None and (move.of_cases or self.supposed.is_condition_of(formula)):
            self._close()
        # Suppose Rex were warm; he would bark, but he does not. So he is not warm.
        if self.supposed is not None and move.inferred and fo.key(formula) == fo.key(fo.negated(self.supposed.assumed)):
            self._refute(self.supposed, moves.Contradicts(""), None)
            return
        is_plain = not (move.inferred or move.promise or move.cited or move.because or self.claims or self.supposed)
        if is_plain and self._is_asked(formula) and self.known.support(formula) is None:
            self._judged(moves.Judged("true", move.text), formula)
            return
        possible = self._possibility(formula)
        is_given = move.promise is moves.Promise.QUOTED
        premises = self.known.given()
        self.num_moves += 1
        if possible is not None:
            both = (possible, fo.Not(possible))
            is_open = all(self.known.follows(each, premises) is Answer.SATISFIABLE for each in both)
            if is_given or move.cited or move.because or not is_open:
                # Attack: say of what is so, or cannot be so, that it may be so.
                raise self._bad("unsupported_sentence", "the context settles it, or does not say it")
            self.doubted = self.doubted or (self.index, self.text)
            return
        groups = [self._numbered(number) for number in move.cited]
        cited = tuple(at for group in groups for at in group)
        self._check_promise(formula, move.promise)
        if move.because and not (move.loosely and is_part(formula, self.claims[-move.because :])):
            self._rests(formula, move)
        elif move.inferred and not move.cited and is_unfounded(self.known, formula, self.claims):
            raise self._bad("unsupported_sentence", "it does not follow from what is said before it")
        if fo.key(formula) != fo.key(self.case.goal) and is_idle(self.known, told):
            # Attack: if Ned is a newt then Pip is a bird, of a Pip that is one.
            raise self._bad("unsupported_sentence", "it says less than what is known")
        if cited:
            reasons = [part for claim in self.claims[len(self.claims) - move.because :] for part in fo.conjuncts(claim)]
            beside = [self.known.keys[fo.key(part)] for part in reasons if fo.key(part) in self.known.keys]
            why = miscited(self.known, fo.conjuncts(formula), groups, beside)
            self._refuse_if(why is not None, why or "")
        for part in fo.conjuncts(formula):
            self._refuse_if(is_given and not cited and not is_stated(self.known, part), "no premise says so")
            is_drawn = move.inferred and not move.because
            support = self._supported(part, cited, len(self.claims) if is_drawn else move.because, is_drawn)
            self._check_read_out(part, move, support)
            stands = support is not None and support < self.known.num_premises
            is_premise = stands and fo.key(part) == fo.key(self.known.formulas[support or 0])
            if move.inferred and not move.cited and is_premise and self._is_guised(part, move):
                # Attack: a premise of the context in the guise of a conclusion: Tom is kind, so Tom is a cat.
                raise self._bad("unsupported_sentence", "it stands in the context, and does not follow from this")

        if is_imagined and isinstance(told, fo.Compound):
            self.would = Supposition(told.operands[0], 0, [told.operands[1]])

    def _possibility(self, formula: fo.Formula) -> fo.Formula | None:
        """Return what a claim says may be so, but for what the problem itself says that one may: drive a scooter."""
        return None if self._permitted & fo.predicates(formula) else possibility(formula)

    def _check_read_out(self, part: fo.Formula, move: moves.Claim, rule: int | None) -> None:
        """Hold a step to the rules that were just read out, where some were."""
        if rule is not None and fo.key(part) == fo.key(self.known.formulas[rule]):
            # A rule right behind its step is its reason.
            if rule < self.known.num_premises and not is_fact(part) and rule != self.last_rule:
                self.read_out.add(rule)
            self.last_rule = None
            return
        if rule is None and self.applied is None and is_stated(self.known, part):
            return  # A premise of two facts is read out by its parts.
        self.last_rule = rule
        if rule is not None and not move.inferred and (is_existential(part) or not is_fact(part)):
            # An instance of a rule is read out like the rule. Attack: some dogs bark, so Rex barks.
            self.read_out |= {self.known.keys[fo.key(part)], *(() if is_existential(part) else (rule,))}
            return
        facts = [place for place in self.known.facts if fo.key(self.known.formulas[place]) != fo.key(part)]
        if self.applied is not None:
            (who, places), self.applied = self.applied, None
            is_by_it = any(self.known.gives(part, [*facts, at]) and not self.known.gives(part, facts) for at in places)
            if not is_by_it or (who is not None and who.lower() not in fo.constants(part)):
                # Attack: the first rule applies to Rex, so Tom is a mammal.
                raise self._bad("unsupported_sentence", "it does not follow by the rule that is said to apply")
        said, self.read_out = self.read_out, set()
        is_sourced = move.because or move.cited or move.of_premises
        if not said or rule is None or rule in said or is_sourced or not is_fact(part):
            return
        # In either case: the alternative, and the rules that were read out for its cases.
        others = [[other] for other in said] if not move.of_cases else [[rule, *said]]
        if not any(self.known.gives(part, [*facts, *other]) for other in others):
            # Attack: read out one rule and use another.
            raise self._bad("unsupported_sentence", "it does not follow by the rule that was read out")

    def _rests(self, formula: fo.Formula, move: moves.Claim | moves.Judged) -> None:
        """Hold a claim to the reasons that are given for it: with facts and one rule they give it, and none is idle."""
        claims = self.claims[-move.because :]
        reasons = [part for reason in claims for part in fo.conjuncts(reason)]
        is_said = fo.key(formula) in map(fo.key, reasons)
        if is_said and re.match("there", move.text or ""):  # Some cats bark, so there is one.
            return
        if move.loosely and not any(map(self._possibility, reasons)) and not is_said:
            # Attack: Ned is a newt, so Pip is a bird; Tom is smart and blue, so he is kind, of who is smart and cold.
            is_vain = len(claims) == 1 and has_idle_part(self.known, formula, reasons)
            self._refuse_if(is_unfounded(self.known, formula, claims), "it does not follow from what stands before it")
            self._refuse_if(is_vain, "it does not need all that stands before it")
            return
        own = [self.known.keys[fo.key(part)] for part in reasons if fo.key(part) in self.known.keys]
        facts = [place for place in self.known.facts if fo.key(self.known.formulas[place]) != fo.key(formula)]
        given = tuple(place for place in own if place in self.known.rules)
        # Attack: Pip is a bird because Pip is a bird; since Ned is a newt, Pip is a bird.
        rules = [given] if given else [(), *((place,) for place in self.known.rules)]
        rules += [(*given, place) for place in sorted(self.read_out)] if given and not is_fact(formula) else []
        found = next((rule for rule in rules if self.known.gives(formula, [*facts, *rule])), None)
        is_idle = found is None or any(
            self.known.gives(formula, [*facts, *(other for other in given if other != place)]) for place in given
        )
        for place in (place for place in own if place in self.known.facts and found is not None):
            said = self.known.formulas[place]
            others = [*(other for other in facts if not self.known.gives(said, [other])), *(found or ())]
            is_idle = is_idle or self.known.gives(formula, others) or not self.known.gives(formula, [*others, place])
        if is_idle or is_said or any(map(self._possibility, reasons)):
            raise self._bad("unsupported_sentence", "the reasons that it gives are not those that it needs")

    def _is_guised(self, part: fo.Formula, move: moves.Claim) -> bool:
        """Say whether a premise is said to follow that is not asked, nor follows from what the text has told."""
        others = [claim for claim in self.claims if fo.key(claim) != fo.key(part)]
        own = [place for claim in others if (place := self.known.keys.get(fo.key(claim))) is not None]
        told = {fo.key(step.says) for step in self.steps[:-1]}
        recent = {fo.key(each) for claim in self.last_claims for each in (claim, *fo.conjuncts(claim))}
        is_told = fo.key(part) in (recent if move.of_last else told)
        return not is_told and not self.known.gives(part, own)

    def _not_known(self, move: moves.NotKnown, told: fo.Formula | None) -> None:
        premises = self.known.given()
        formula = self.case.goal if told is None else told
        # Whether Tom is a cat or is warm: neither is known.
        each_of: tuple[fo.Formula, ...] = (formula,)
        if move.both_ways and isinstance(formula, fo.Compound) and formula.operator is fo.Operator.OR:
            each_of += formula.operands
        sides = [side for each in each_of for side in ((each, fo.negated(each)) if move.both_ways else (each,))]
        is_asked = any(map(self._is_asked, each_of))
        if move.of_last and is_asked and not any(self._told_last(each) for each in (formula, fo.negated(formula))):
            # That the last sentence does not settle the question tells why the text goes on.
            self.num_moves += 1
            both = (formula, fo.negated(formula))
            self.is_open |= all(self.known.follows(each, premises) is Answer.SATISFIABLE for each in both)
            return
        if any(self.known.follows(each, premises) is not Answer.SATISFIABLE for each in sides):
            is_said = any(self.known.gives(each, [at]) for each in sides for at in premises)
            self._refuse_if(is_said or not (move.directly and is_asked), "the context settles it")
            # That no premise says so in so many words is a reason to infer it.
            return
        if not any(asks_for(claim, formula) for claim in self.claims):
            # That nobody knows whether the condition of a rule is met tells why the rule is not used.
            self.doubted = self.doubted or (self.index, self.text)
        if told is None:
            return
        self.num_moves += 1
        self.left_open = is_asked and move.both_ways
        self.is_open = self.is_open or is_asked

    def _last_parts(self) -> list[fo.Formula]:
        return [part for each in self.claims[self.num_before :] or self.last_claims for part in fo.conjuncts(each)]

    def _told_last(self, formula: fo.Formula) -> bool:
        """Say whether what was said last gives a formula by itself."""
        keys = [key for key in map(fo.key, self._last_parts()) if key in self.known.keys]
        return self.known.gives(formula, [self.known.keys[key] for key in keys])

    def _check_of_last(self, move: moves.Converse | moves.Given) -> None:
        """Hold that the reverse of what was said last does not follow to the premises; or that they say it."""
        parts = self._last_parts()
        if isinstance(move, moves.Given):
            is_said = bool(parts) and all(is_stated(self.known, part) for part in parts)
            self._refuse_if(not is_said or isinstance(self.before, moves.Aim), "no premise says so")
            return
        turned = [each for part in parts for each in converses(part)]
        if len(turned) != 1 or self.known.follows(turned[0], range(self.known.num_premises)) is not Answer.SATISFIABLE:
            raise self._bad("unsupported_sentence", "there is no reverse, or it holds")
        self.doubted = self.doubted or (self.index, self.text)

    def _none_about(self, move: moves.NoneAbout) -> None:
        """Hold that nothing is told of an object, or nothing else than was said, to the premises that name it."""
        (name,) = move.names
        told = {fo.key(part) for claim in self.claims for part in fo.conjuncts(claim)}
        said = self.claims[self.num_before :] or self.last_claims
        self._refuse_if(name in self.individuals, "the text says something of it")
        for premise in said if move.of_last else self.case.premises:
            is_new = not move.others or any(fo.key(part) not in told for part in fo.conjuncts(premise))
            if name in fo.constants(premise) and is_new and (is_fact(premise) or not move.of_facts):
                raise self._bad("unsupported_sentence", "the context says something of it")
        if move.of_facts or (move.of_last and name in fo.constants(self.case.goal)):
            return
        self.doubted = self.doubted or (self.index, self.text)
        self.num_moves += 1

    def _judged(self, move: moves.Judged, formula: fo.Formula | None) -> None:
        """Take a value for the question, or what a value says of another statement."""
        value, goal = move.value, self.case.goal
        if formula is None and self.aside is not None and move.because == 1 and value in ("true", "false"):
            # Is Bob smart? .. Yes, Bob is smart.
            told = self.aside if value == "true" else fo.negated(self.aside)
            if self.claims and fo.key(self.claims[-1]) == fo.key(told):
                self.aside = None
                return
        self._close()
        # Attack: is Ned a newt? Yes.
        self._refuse_if(self.is_aside and formula is None, "it answers another question")
        if self.is_final and not (move.is_final and self.value == value):
            is_vague = self.text[:5].lower() in ("this ", "that ")
            kind, reason = (Malformed, "not_read") if is_vague else (Unproved, "unsupported_sentence")
            raise BadMove(self.index, self.text, Refusal(kind, reason, "something is judged behind the answer"))
        self.is_final = move.is_final and bool(self.claims)
        if formula is not None and fo.key(formula) != fo.key(goal):
            if fo.key(formula) == fo.key(fo.negated(goal)):
                value = {"true": "false", "false": "true"}.get(value, value)
            elif value == "unknown":
                self._not_known(moves.NotKnown(self.text, both_ways=True), formula)
                return
            else:
                self._supported(formula if value == "true" else fo.negated(formula), ())
                return
        self._refuse_if(self.value is not None and self.value != value, "the text gives two answers")
        if value != "unknown" and not self.claims and (self.early is not None or not move.because):
            # The answer comes first, and its proof behind it.
            self.early, self.is_final = (self.index, self.text, goal if value == "true" else fo.negated(goal)), False
            self.value, self.claimed = value, None
            return
        self.value = value
        self.is_open = self.is_open or (value == "unknown" and formula is not None)
        if value != "unknown":
            said = goal if value == "true" else fo.negated(goal)
            reasons = [
                part for reason in self.claims[len(self.claims) - move.because :] for part in fo.conjuncts(reason)
            ]
            if move.because and fo.key(said) not in map(fo.key, reasons):
                self._rests(said, move)
            self._check_told(said, spelled=formula is not None)
            self._supported(said, ())
            self.num_moves += formula is not None
