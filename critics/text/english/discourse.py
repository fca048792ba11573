"""Discourse as models write it: each sentence of a chain of thought as moves, every word of it accounted for.

A sentence is a statement, or is taken apart at what joins statements (`Since A, B`, `A, so B`) and at what leads them
in (`from premise 3, we know that A`). Statements are texts here; `critics.grammar` reads them. Nothing is skipped: a
piece that is no move makes the sentence unread.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from critics.text.english import phrases, talk, wording
from critics.text.english.moves import (
    Aim,
    Applies,
    Assumed,
    Claim,
    Contradicts,
    Converse,
    Judged,
    Move,
    NoneAbout,
    NothingElse,
    NotKnown,
    Promise,
    Unused,
)

if TYPE_CHECKING:
    from critics.text.english.doubts import Doubt

Reads: TypeAlias = Callable[[str], bool]
"""Says whether a text is a statement that is read."""


def moves(sentence: str, reads: Reads, question: str = "", is_fact: Reads = lambda _: False) -> list[Move] | None:
    """Return the moves of one sentence; None where some piece of it is none."""
    if len(sentence) > MAX_SENTENCE:
        return None
    # Attack: a question in the words of a claim (`Bob is rough.`), said again once its denial is proved.
    if question and wording.is_question(sentence, question) and not reads(wording.stripped(sentence)):
        return [Aim("")]
    if phrases.QUESTION_LEADS.fullmatch(sentence) or not wording.stripped(sentence):
        return []
    sentence = _IS.sub(r"\1 is ", sentence)
    asked = phrases.ASKED.fullmatch(sentence)
    if asked is not None and reads(asked["about"]):
        return [Aim(asked["about"], on_the_way=True)]
    if sentence.rstrip("\"')* ").endswith("?"):
        return talk.asked(sentence, reads)
    return _Sentence(reads, is_fact).read(sentence, Claim(""), 0)


MAX_SENTENCE = 1_000
"""Characters of a sentence with all its claims."""
_LEADS = (
    (phrases.SHOWN, Promise.SHOWN), (phrases.QUOTES, Promise.QUOTED), (phrases.GIVENS, Promise.GIVEN),
    (phrases.LEADS, Promise.NONE),
)  # fmt: skip
_STEP = re.compile(r"(?i:(?:(?:the|our) (?:conclusion|result) )?(?:(?:of|in|from) )?step) ([1-9]\d?)")
_IS_ANSWER = re.compile(r"(?:the )?(?:final )?answer\b", phrases.ANY_CASE)
_INNER = re.compile(rf" [(\[](?:from |by |see |as per )?{phrases.SOURCE}[)\]](?= |$)", phrases.ANY_CASE)
_SUBJECTS = {"him": "he", "her": "she", "them": "they"}
_IS = re.compile(r"\b([A-Z][a-z]+)'s (?=(?:an?|not|also|now) )")
_ADVERB = re.compile(r"\b(?:actually|really|even) (?=[a-z])")


class _Sentence:
    """One sentence being taken apart; work is bounded by a count of tries."""

    MAX_TRIES = 400

    def __init__(self, reads: Reads, is_fact: Reads) -> None:
        self._reads, self.is_fact, self.tries = reads, is_fact, 0
        self.known: dict[tuple[str, Claim], list[Move] | None] = {}
        self.are_read: dict[str, bool] = {}

    def reads(self, text: str) -> bool:
        """Say whether a text is a statement; asked too often, say no."""
        if text not in self.are_read:
            self.are_read[text] = len(self.are_read) < self.MAX_TRIES and self._reads(text)
        return self.are_read[text]

    def read(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        """Read a piece; `mode` says how its claims are meant."""
        text = wording.unquoted_whole(wording.stripped(text))
        key = (text, mode)
        if key in self.known:
            return self.known[key]
        self.tries += 1
        if not text or self.tries > self.MAX_TRIES or depth > 14:
            return None
        self.known[key] = None
        self.known[key] = found = self._read(text, mode, depth)
        return found

    def _read(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        if talk.is_comment(text, is_whole=depth == 0):
            return []
        for form in (talk.arrows, talk.unused, talk.of_statement, talk.sources, talk.known_of, talk.needs):
            if (told := form(text, self.reads, lambda piece: self.read(piece, Claim(""), depth + 1))) is not None:
                return told
        for pattern, form in phrases.REWORDED if phrases.REWORDS.search(text) else ():
            other = pattern.fullmatch(text)
            if other is not None:
                groups = {name: _SUBJECTS.get(told or "", told or "") for name, told in other.groupdict().items()}
                if (said := self.read(form.format(**groups), mode, depth + 1)) is not None:
                    return said
        topic = phrases.TOPIC.match(text)
        if topic is not None:
            rest = re.sub(r"\b(?:he|she|it)\b", topic["name"], text[topic.end() :], count=1)
            if (said := self.read(rest, mode, depth + 1)) is not None:
                return said
        if (told := talk.given(text)) is not None:
            return told
        if (rest := talk.spoken_of(text)) is not None and (said := self.read(rest, mode, depth + 1)) is not None:
            return said
        judging = (self._judged, self._answer, self._refuted, self._ending, self._contradicts)
        for one in (*judging, self._aim, self._unknown, self._since, self._led, self._backed):
            found = one(text, mode, depth)
            if found is not None:
                return found
        if self.reads(text):
            return [replace(mode, text=text)]
        return self._split(text, mode, depth)

    def _judged(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        found = next(((at, match) for at, each in enumerate(phrases.JUDGED) if (match := each.fullmatch(text))), None)
        if found is None:
            return None
        at, match = found
        value = phrases.VALUES[match["value"].lower()]
        if at == 1 and value != "unknown":
            # It is true that A, it is false that A: a claim.
            return None
        about = wording.unquoted(match["about"] or "") if at < 2 else ""
        if about and not self.reads(about):
            return None
        if value == "false" and not about and phrases.OWN_ANSWER.match(text):
            # Attack: deny one's own answer, in words that another takes for the answer `false`.
            return None
        return [Judged(value, about or None, is_final=not about and _IS_ANSWER.match(text) is not None)]

    def _answer(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        """The answer is A; yes, A; it cannot be determined; A is true."""
        match = phrases.ANSWERS.fullmatch(text)
        if match is not None:
            return [Judged(wording.value_of(match["value"]), is_final=_IS_ANSWER.match(text) is not None)]
        if phrases.UNDECIDED.fullmatch(text) is not None:
            return [Judged("unknown")]
        if (match := phrases.YES.match(text)) is not None:
            said = self.read(text[match.end() :], mode, depth + 1)
            if said and all(isinstance(move, Claim) for move in said):
                return [*said, Judged(wording.value_of(match["value"]), because=1)]
        match = phrases.ABOUT.fullmatch(text)
        if match is not None and self.reads(wording.unquoted(match["claim"])):
            return [Judged(wording.value_of(match["value"]), wording.unquoted(match["claim"]))]
        return None

    def _ending(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        """Nothing else follows; assume that A; this is a contradiction."""
        if phrases.EXHAUSTED.fullmatch(text) is not None:
            return [NothingElse()]
        if (match := phrases.APPLIES.fullmatch(text)) is not None:
            return [Applies("", match["who"] or match["who2"] or match["who3"], wording.cited(match))]
        if (match := phrases.ASSUMES.match(text)) is not None:
            rest = text[match.end() :]
            for then in [None, *re.finditer(r", (?:then|so|and) (?:(?:so|then),? )?", rest)]:
                about = rest if then is None else rest[: then.start()]
                after = [] if then is None else self.read(rest[then.end() :], Claim("", inferred=True), depth + 1)
                is_plain = then is None and about[:3].lower() != "if "
                if after is not None and self.reads(about) and (is_plain or self.is_fact(about)):
                    return [Assumed(about), *after]
        if (match := phrases.CONTRADICTION.match(text)) is not None:
            if not (rest := text[match.end() :]):
                return [Contradicts("", bare=re.search("statement", match[0]) is None)]
            return [Contradicts(rest)] if self.reads(rest) else None
        return None

    def _contradicts(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        match = phrases.CONTRADICTS.fullmatch(text)
        if match is None:
            return None
        about = wording.unquoted(match["about"])
        source = re.fullmatch(phrases.SOURCE, about, phrases.ANY_CASE)
        is_statement = source is None or "statement" in source[0].lower()
        if source is not None and (numbers := wording.cited(source)):
            # Attack: cite a premise that has nothing to do with it. `This` may be anything.
            return [Contradicts("", not re.match(phrases.THING, text, phrases.ANY_CASE), cited=numbers)]
        if not is_statement and not re.match(r"the |this \w+ ", text, phrases.ANY_CASE):
            # Attack: contradict the context.
            return [Contradicts("", of_context=True)]
        if (step := _STEP.fullmatch(about)) is not None:
            return [Contradicts("", step=int(step[1]))]
        value = re.fullmatch(rf"(?P<rest>.*?),? and is (?P<value>{'|'.join(phrases.VALUES)})", about, phrases.ANY_CASE)
        if value is not None and value["rest"] and re.fullmatch(phrases.SOURCE, value["rest"], phrases.ANY_CASE):
            return [Contradicts(""), Judged(phrases.VALUES[value["value"].lower()])]
        if not about or source is not None:
            return [Contradicts("")]
        return [Contradicts(about)] if self.reads(about) else None

    def _refuted(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        match = phrases.REFUTED.fullmatch(text)
        if match is None or not (about := wording.unquoted(match["about"])) or not self.reads(about):
            return None
        if "contra" in match["how"] or "conflict" in match["how"]:
            cites = wording.cited(match)
            return [*([Contradicts(about, cited=cites)] if cites else []), Judged("false", about)]
        is_given = match["how"].lower().startswith(("stated", "given"))
        return [
            Claim(about, not is_given, Promise.QUOTED if is_given else Promise.NONE, wording.cited(match)),
            Judged("true", about),
        ]

    def _aim(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        match = phrases.AIMS.match(text)
        if match is None:
            return self._goal(text, depth)
        aims = match["aims"] or match["heads"] or match["claims"]
        force = "concludes" if match["concludes"] else "aims" if aims else "asks"
        rest = text[match.end() :]
        for end in [len(rest), *(comma.start() for comma in re.finditer(", ", rest))]:
            about = wording.unquoted(phrases.AIM_ENDS.sub("", rest[:end]))
            if not self.reads(about):
                continue
            plan = rest[end + 1 :].strip(wording.EDGES)
            after = [] if not plan or phrases.PLAN.fullmatch(plan) else self.read(plan, Claim(""), depth + 1)
            if after is not None:
                needs = re.match(rf"(?:so |then )?{phrases.WE} (?:need|have)\b", text, phrases.ANY_CASE)
                return [Aim(about, force == "asks" and needs is not None, force), *after]
        return self._goal(text, depth)

    def _goal(self, text: str, depth: int) -> list[Move] | None:
        """Return what is evaluated: `we want to evaluate if A`, `the statement says that A, so it is false`."""
        match = phrases.AIM.fullmatch(text)
        if match is None:
            return None
        about = wording.unquoted(re.sub(r" or not$", "", match["about"] or match["about2"]))
        # Attack: `we need to verify that A` of what was refuted.
        force = "asks" if match["that"] is None else "aims"
        if self.reads(about):
            return [Aim(about, match["sub"] is not None or match["top"] is None, force)]
        for joint in phrases.JOINTS.finditer(match["about2"] or ""):
            said = wording.unquoted(joint.string[: joint.start()])
            after = self.read(joint.string[joint.end() :], Claim("", bool(joint["so"])), depth + 1)
            if after and self.reads(said):
                return [Aim(said), *after]
        return None

    def _unknown(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        if phrases.DENIES.search(text) is None or phrases.DENIALS.match(text) is not None:
            return None
        # Few texts of data sets speak of what nobody knows.
        from critics.text.english.doubts import doubt

        found = doubt(text)
        if found is None or (text.lower().startswith(("it does", "it is not")) and self.reads(text)):
            return None
        about = found.about
        if not about or phrases.OF_TEXT.fullmatch(about):
            return [NotKnown("", found.both_ways, found.directly, found.of_last)]
        if about == "the reverse":
            return [Converse()]
        # Attack: nobody knows whether Tom is warm, and Tom is big.
        whole = [] if found.both_ways and re.search(r"[,;] (?:and|but) (?!whether|if)", about) else [len(about)]
        for end in [*whole, *(joint.start() for joint in phrases.JOINTS.finditer(about))]:
            rest = phrases.JOINTS.sub("", about[end:], count=1)
            after: list[Move] | None = [] if end == len(about) else self.read(rest, Claim(""), depth + 1)
            topics = None if after is None else self._topics(wording.unquoted(about[:end]), found)
            if topics is not None and after is not None:
                return wording.ordered(topics, after)
        return None

    def _topics(self, said: str, found: "Doubt") -> list[Move] | None:
        """Return what is not known as moves: `A`, `whether A or whether B`, `the cat being big`, `Bob's age`."""
        from critics.text.english.doubts import finite, names_of, rule_of

        said = re.sub(r" (is|does) or \1(?:n't| not) ", r" \1 ", re.sub(r",? or not$|,? either$", "", said))
        rule = rule_of(said)
        if rule is not None:
            return [NotKnown(rule, both_ways=False)] if self.reads(rule) else None
        unknown: list[Move] = []
        for part in re.split(r",? (?:or|and) (?:about )?(?:whether|if) ", said):
            told = _ADVERB.sub("", part)
            told = told if self.reads(told) else finite(told)
            if not self.reads(told):
                names = names_of(said) if found.is_topic or re.match(r"which |[A-Z]\w+'s ", said) else None
                return None if names is None else [NoneAbout(*names, found.others, of_last=found.of_last)]
            is_of_last = found.of_last and told[:3] != "if "
            unknown.append(NotKnown(told, found.both_ways, found.directly, is_of_last))
        return unknown

    def _since(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        """Since A, B; because A, B; given that A, B."""
        match = phrases.SINCE.match(text)
        if match is None:
            return None
        if (numbered := phrases.CITES.match(text)) is not None:
            citing = replace(mode, cited=wording.listed(numbered["numbers"]))
            found = self.read(text[numbered.end() :], citing, depth + 1)
            if found is not None:
                return found
        rest = re.sub(r",? and (?:since|because|given that|as) ", ", and ", text[match.end() :])
        for comma in [at.start() for at in re.finditer(r", (?!(?:and )?(?:therefore|thus|hence|so)\b)", rest)][::-1]:
            reason = self.read(rest[:comma], Claim(""), depth + 1)
            said = self.read(rest[comma + 2 :], Claim("", inferred=True), depth + 1) if reason else None
            if reason and said is not None:
                return self._held(match[0], wording.backed_by(said, reason))
        return None

    def _led(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        """Take off what leads a statement in."""
        concludes = phrases.CONCLUDES.match(text) is not None
        of_last = mode.of_last or concludes or phrases.INFERS.match(text) is not None
        match = phrases.CONNECTIVE.match(text)
        if match is not None:
            inner = replace(mode, inferred=mode.inferred or concludes or bool(match["infers"]), of_last=of_last)
            inner = replace(inner, of_cases=mode.of_cases or match["cases"] is not None)
            found = self.read(text[match.end() :], inner, depth + 1)
            if found is not None:
                return found
        match = phrases.STATES.match(text)
        if match is not None:
            quoted = replace(mode, promise=Promise.QUOTED, cited=wording.cited(match))
            found = self._held(match[0], self.read(wording.unquoted(text[match.end() :]), quoted, depth + 1))
            if found is not None:
                return found
        match = phrases.FROM.match(text)
        if match is not None:
            found = self._from(text, match, mode, depth)
            if found is not None:
                return found
        match = phrases.KNOWS.match(text)
        if match is not None:
            inferred = mode.inferred or (not mode.of_premises and bool(match["infers"] or match["shown"]))
            is_given = not match["infers"] and not match["shown"] and phrases.STATED.search(match[0])
            cites = wording.cited(match) or mode.cited
            inner = replace(wording.promised(mode, is_given), inferred=inferred, cited=cites)
            if re.search(r"\balready\b|\bit(?: is|'s) .*\bknown\b", match[0], phrases.ANY_CASE):
                # Attack: we already know, it is known, what nobody has said.
                inner = replace(inner, promise=max(inner.promise, Promise.GIVEN))
            if match["infers"]:
                is_last = mode.of_last or (concludes and not mode.of_premises)
                inner = replace(inner, promise=Promise.NONE, of_last=is_last)
            found = self._held(match[0], self.read(wording.unquoted(text[match.end() :]), inner, depth + 1))
            if found is not None:
                return found
        for lead, promise in _LEADS:
            match = lead.match(text)
            if match is not None and match.end():
                inferred = mode.inferred or concludes
                inner = replace(mode, promise=max(mode.promise, promise), inferred=inferred, of_last=of_last)
                return self._held(match[0], self.read(text[match.end() :], inner, depth + 1))
        return None

    def _held(self, lead: str, found: list[Move] | None) -> list[Move] | None:
        """Refuse facts that are called a rule: `the rule says that Tom is a cat`."""
        told = [move.text for move in found or () if isinstance(move, Claim) and move.text]
        is_misnamed = re.search(r"\brules?\b", lead, phrases.ANY_CASE) and told and all(map(self.is_fact, told))
        return None if is_misnamed else found

    def _from(self, text: str, match: re.Match[str], mode: Claim, depth: int) -> list[Move] | None:
        """From premise 3, A; from the premise that A, B; by the rule "A", B."""
        rest = text[match.end() :]
        is_fact = re.search(r"\bfacts?\b", match[0], phrases.ANY_CASE) and not re.search(
            r"\b(?:given|stated)\b", match[0], phrases.ANY_CASE
        )
        # A fact may have been inferred before.
        source = Claim("", promise=Promise.NONE if is_fact else Promise.QUOTED, cited=wording.cited(match))
        quoted = phrases.QUOTED.match(rest)
        if quoted is not None:
            said: list[Move] | None = []
            while quoted is not None and said is not None:
                found = self._held(match[0], self.read(quoted["said"], source, depth + 1))
                said = None if found is None else [*said, *found]
                rest = rest[quoted.end() :]
                quoted = phrases.QUOTED.match(rest) if quoted["sep"] else None
            rest = rest.strip(" ,").removeprefix("that ")
            # Attack: Rex is a mammal, by "Bob is big"; by "Rex is a mammal" in the context, Rex is warm.
            then = replace(mode, inferred=True, promise=Promise.NONE)
            after = self.read(rest, then, depth + 1) if rest and rest[:3] != "in " else None
            # Attack: from "Tom is kind" we know that Ann is big.
            return None if said is None or after is None else wording.backed_by(after, said, loosely=True)
        if match["quote"] is not None or not match["sep"]:
            for comma in [at.start() for at in re.finditer(r", ", rest)][::-1]:
                said = self._held(match[0], self.read(rest[:comma], source, depth + 1))
                then = replace(mode, inferred=True, promise=Promise.NONE)
                after = None if said is None else self.read(rest[comma + 2 :], then, depth + 1)
                if said is not None and after is not None:
                    return wording.backed_by(after, said, loosely=True)
            if match["quote"] is not None:
                return None
        return self.read(rest, wording.sourced(mode, match), depth + 1)

    def _backed(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        """A, according to premise 3; A (premise 3)."""
        inner = list(_INNER.finditer(text))
        if len(inner) > 1 and self._split(text, mode, depth) is None:
            # Tom is signed (premise 2) and dated (premise 3).
            numbers = tuple(number for each in inner for number in wording.cited(each))
            return self.read(_INNER.sub("", text), replace(mode, cited=numbers), depth + 1)
        tag = phrases.TAGS.search(text)
        if tag is not None:
            promise = Promise.QUOTED if tag["quoted"] else Promise.SHOWN if tag["shown"] else Promise.GIVEN
            parts = self._split(text, mode, depth) if not self.reads(text[: tag.start()]) else None
            tagged = replace(mode, promise=max(mode.promise, promise))
            return self.read(text[: tag.start()], tagged, depth + 1) if parts is None else parts
        match = phrases.CITED.search(text)
        if match is not None and match.start():
            numbers = wording.listed(match["inner"] or match["outer"])
            parts = self._split(text, mode, depth) if wording.has_so(text[: match.start()]) else None
            return parts or self.read(text[: match.start()], replace(mode, cited=numbers), depth + 1)
        match = phrases.BEHIND.search(text)
        if match is None or not match.start():
            return None
        # In brackets, and behind `hence`, it is of the last of several statements.
        before = text[: match.start()]
        is_bracketed = text.endswith((")", "]")) and not self.reads(before)
        is_of_last = is_bracketed or wording.has_so(before)
        parts = self._split(text, mode, depth) if is_of_last else None
        if parts is not None:
            return parts
        return self.read(before, wording.sourced(mode, match), depth + 1)

    def _split(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        """Take a sentence apart at what joins two statements."""
        aside = phrases.APPOSITIVE.fullmatch(text)
        if aside is not None:
            reason = self.read(f"{aside['name']} is {aside['what']}", Claim(""), depth + 1)
            said = self.read(f"{aside['name']} {aside['rest']}", replace(mode, inferred=True), depth + 1)
            if reason and said:
                return wording.backed_by(said, reason, loosely=True)
        joints = sorted(phrases.JOINTS.finditer(text), key=lambda joint: (not joint["so"], not joint["because"]))
        for joint in joints:
            before = replace(mode, inferred=True) if joint["because"] else mode
            first = self.read(text[: joint.start()], before, depth + 1)
            # What is no claim before a colon is a label, and held to what stands behind it.
            if first is None or (not first and joint[0] == ": "):
                continue
            if joint["because"] and any(isinstance(move, Unused) for move in first):
                first = [replace(move, inferred=False) if isinstance(move, Claim) else move for move in first]
            inferred = bool(joint["so"])
            behind = Claim("", True) if inferred else replace(mode, inferred=False, because=0, of_last=False)
            second = self.read(text[joint.end() :], behind, depth + 1)
            if second is not None:
                if joint["because"]:
                    return wording.backed_by(first, second)
                return wording.backed_by(second, first, loosely=True) if inferred else [*first, *second]
        return None
