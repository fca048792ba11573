"""Numbers of a summary in plain English: whether certification pays here, by how much, and how sure that is.

No sentence has a margin that was hoped for: it says the difference, its interval, and whether zero is inside.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from critics.problem import is_object
from critics.replay.grades import grades_said
from training.reporting.summary import ArmSummary, Comparison, Summary

LEVEL = 0.05
Finding: TypeAlias = Literal["more", "less", "open"]


def percent(rate: float | Sequence[float] | None) -> str:
    """Return a rate as `51.3%`, an interval of rates as `48.0–54.6%`, and nothing as a dash."""
    match rate:
        case None:
            return "–"
        case float() | int():
            return f"{100 * rate:.1f}%"
        case _:
            return f"{100 * rate[0]:.1f}–{100 * rate[1]:.1f}%"


def points(difference: float | Sequence[float] | None) -> str:
    """Return a difference of rates in percentage points, signed; an interval as `+27.0 to +35.4`."""
    match difference:
        case None:
            return "–"
        case float() | int():
            return f"{100 * difference + 0.0:+.1f}"
        case _:
            return " to ".join(points(end) for end in difference)


def p_value(p: float) -> str:
    """Return `0.034`, or `< 0.001` where more digits would only pretend to mean something."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def verdict_sentence(summary: Summary) -> list[str]:
    """Say whether certification pays, what each arm gained, and how the first arm compares with each other one."""
    sentences = [*_revoked_sentence(summary), *_answer(summary)]
    sentences += [_gains_sentence(summary.arms), _certified_sentence(summary.arms), *_grades_sentence(summary.arms)]
    sentences += _lead_sentences(summary.comparisons)
    sentences += _cautions(summary)
    if len({arm.decoding for arm in summary.arms.values()}) > 1:
        sentences.append("The arms decode differently, so a gain is measured from the arm's own start.")
    if all(len(arm.seeds) == 1 for arm in summary.arms.values()):
        sentences.append("One seed only: how much another training run would differ is not known.")
    return sentences


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return what a sceptic asks first, with the answers: what was measured, on what, and what was taught before."""
    origin = summary.provenance
    evaluation = origin.get("evaluation")
    measured = evaluation if is_object(evaluation) else {}
    seeds, arms = next(iter(summary.arms.values())).seeds, summary.arms.values()
    cells = [cell for cell in summary.square if cell.decoding == summary.arms[cell.arm].decoding]
    temperature = max((cell.temperature for cell in cells), default=1.0)
    how = {"guided": "under the guide", "free": "freely"}
    ways = {name: how.get(arm.decoding, arm.decoding) for name, arm in summary.arms.items()}
    one = len(set(ways.values())) == 1
    decodings = f"every arm {ways[next(iter(ways))]}" if one else "; ".join(map(" ".join, ways.items()))
    n = max(arm.rounds[-1].rates.n for arm in arms)
    answers = f"{n} answers an arm: {measured.get('n', '?')} problems held out (split {measured.get('split', '?')})"
    chance = [arm.rounds[-1].chance for arm in arms if arm.rounds[-1].chance is not None]
    guess = [("A guess", f"is right on {percent(chance[0])} of them")] if chance else []
    bases = "one; other bases may differ" if summary.bases == 1 else f"{summary.bases}, trained independently"
    return [
        ("Base models", bases),
        ("Base", f"{origin.get('base', 'see the runs')}: {_taught(origin.get('base_provenance'))}"),
        ("Answers", f"{answers} under {len(seeds)} seed{'s' * (len(seeds) > 1)}; n counts answers, not models"),
        *guess,
        ("Decoding", f"{decodings}; T = {temperature:g}"),
        ("Primary metric", summary.primary or "none was declared before the run"),
    ]


def _taught(base: object) -> str:
    """Say what a base model made here was taught; of any other that is not known."""
    if not is_object(base):
        return "not made here; what it was taught is not known"
    guesses, wrong = (base.get(f"demonstrations_{key}") for key in ("that_guess", "misformalised"))
    flaws = [f"{percent(guesses)} stop early and guess" for _ in range(1) if guesses]
    flaws += [f"{percent(wrong)} misread a rule" for _ in range(1) if wrong]
    number = base.get("sequences")
    shown = f"{number:,} demonstrations" if isinstance(number, int) else "demonstrations"
    shown += f" of at most {base['most_hops']} hops" if base.get("most_hops") else ""
    again = base.get("said_again")
    shown += f" ({again:,} of them only say the context again)" if isinstance(again, int) and again else ""
    if flaws:
        return f"{shown} made here; of the last ones {' and '.join(flaws)}, on purpose"
    other = base.get("wrong_on_purpose")
    return f"{shown} made here, {'some wrong on purpose' if other else 'none wrong on purpose'}"


def _revoked_sentence(summary: Summary) -> list[str]:
    revoked = summary.revoked
    if revoked is None:
        return []
    what = ", ".join([*(f"certificate {digest[:12]}" for digest in revoked.certificates), *revoked.critics])
    if revoked.num_adapters:
        return [f"Not to be relied on: {revoked.num_adapters} adapters of this run rest on what was revoked ({what})."]
    return [f"Revoked ({what}); no adapter of this run rests on it."]


def _cautions(summary: Summary) -> list[str]:
    """Say what else than their arms sets several runs apart, and that answers are not paired."""
    said: list[str] = []
    if any(not c.paired for c in summary.comparisons):
        said.append("Unpaired, as asked for: other problems or other seeds may account for a difference.")
    if differences := summary.differences:
        shown = "; ".join(f"{key} ({', '.join(map(str, values))})" for key, values in list(differences.items())[:6])
        more = f", and {len(differences) - 6} more" if len(differences) > 6 else ""
        said.append(f"The runs' configurations differ in {shown}{more}: a difference between arms may come from there.")
    return said


def finding(comparison: Comparison) -> Finding:
    """Return what an interval says: more, less, or open where it includes zero."""
    low, high = comparison.found.widest
    return "more" if low > 0 else "less" if high < 0 else "open"


# -- the answer


def _answer(summary: Summary) -> list[str]:
    """Answer the question that a run of a strict arm against others asks; nothing for other runs."""
    compared = [c for c in summary.comparisons if _asks_the_question(summary.arms, c)]
    gains: dict[str, Finding] = {c.b: finding(c) for c in compared if c.metric == "gain"}
    proofs: dict[str, Finding] = {c.b: finding(c) for c in compared if c.metric == "certified"}
    if not gains or not proofs:
        return []
    lead = compared[0].a
    if not any(found.kept for found in summary.arms[lead].rounds):
        return [f"Not known: {lead} kept no trace, so its last model is its first."]
    found, proved = set(gains.values()), set(proofs.values())
    if found == {"more"}:
        answer = "Yes, certification pays here: " + (
            "in accuracy and in proofs." if proved == {"more"} else "in accuracy."
        )
    elif "less" in found:
        answer = f"No, certification does not pay here: accuracy gains less than under {_names(gains, 'less')}."
    elif "more" in found:
        answer = (
            f"In part: certification pays here over {_names(gains, 'more')}, "
            f"and the gain in accuracy is not told apart from that of {_names(gains, 'open')}."
        )
    elif proved == {"more"}:
        answer = "In proofs, not in accuracy: more answers are certified, and the gains in accuracy are not told apart."
    else:
        answer = "Not known: this run does not show that certification pays here."
    return [f"{answer} {_amount(compared)}"]


def _asks_the_question(arms: Mapping[str, ArmSummary], c: Comparison) -> bool:
    """A strict arm against one that keeps without a certificate; two strict arms ask something else."""
    return _is_strict(c.a, arms[c.a]) and not _is_strict(c.b, arms[c.b])


def _is_strict(name: str, arm: ArmSummary) -> bool:
    return arm.keep in ("strict", "trusted", "faithful") if arm.keep else name.rsplit(":", 1)[-1] == "strict"


def _names(findings: Mapping[str, Finding], wanted: Finding) -> str:
    return " and ".join(name for name, found in findings.items() if found == wanted)


def _amount(compared: Sequence[Comparison]) -> str:
    """Say by how much, over the rival that comes closest."""
    gain = min((c for c in compared if c.metric == "gain"), key=lambda c: c.found.difference)
    proofs = next(c for c in compared if c.metric == "certified" and c.b == gain.b)
    rivals = sum(c.metric == "gain" for c in compared)
    closest = ", its closest rival" if rivals > 1 else ""
    return (
        f"Over {gain.b}{closest}, {gain.a} leads by {points(gain.found.difference)} points of accuracy gained "
        f"(95% {points(gain.found.widest)}) and {points(proofs.found.difference)} of certified answers "
        f"(95% {points(proofs.found.widest)})."
    )


# -- arm by arm, and comparison by comparison


def _gains_sentence(arms: Mapping[str, ArmSummary]) -> str:
    said = [f"{name} {points(arm.gain)} (95% {points(arm.gain_interval)})" for name, arm in arms.items()]
    first = said[0].replace(" ", " gained ", 1).replace(" (", " points (", 1)
    return "; ".join([f"{first} over its own start", *said[1:]]) + "."


def _certified_sentence(arms: Mapping[str, ArmSummary]) -> str:
    said = (
        f"{name} {percent(first['certified'].rate)} → {percent(last['certified'].rate)}"
        f" (lucky guesses {percent(first['lucky'].rate)} → {percent(last['lucky'].rate)})"
        for name, first, last in ((name, arm.rounds[0].rates, arm.rounds[-1].rates) for name, arm in arms.items())
    )
    return f"Answers with a certified proof, from the start to the last round: {'; '.join(said)}."


def _grades_sentence(arms: Mapping[str, ArmSummary]) -> list[str]:
    """Say on whose word the formulas of the last round's certified answers are about the text."""
    last = {name: arm.rounds[-1].grades for name, arm in arms.items()}
    found = {grade for counts in last.values() for grade, num in counts.items() if num}
    if not found:
        return []
    if found == {"checked"}:
        return ["All of these proofs are of grade checked: context and question were read, and the formulas agree."]
    said = "; ".join(f"{name} {grades_said(counts) or 'none'}" for name, counts in last.items())
    return [f"By grade, in the last round: {said}. What is trusted is proved of the model's own formulas alone."]


def _lead_sentences(comparisons: Sequence[Comparison]) -> list[str]:
    """Return one entry for each rival: about the gain, then about the proofs in the end."""
    proofs = {c.b: c for c in comparisons if c.metric == "certified"}
    sentences: list[str] = []
    for c in (c for c in comparisons if c.metric == "gain"):
        said = f"Does {c.a} gain more than {c.b}? {_said(c, 'it gained less')}"
        if c.b in proofs:
            said += f" Does it certify more in the end? {_said(proofs[c.b], 'it certifies less')}"
        sentences.append(said)
    return sentences


def _said(c: Comparison, less: str) -> str:
    numbers = f"{points(c.found.difference)} points (95% {points(c.found.widest)}; {_how_sure(c)}; n = {c.found.n})"
    match finding(c):
        case "more":
            said = f"Yes: {numbers}."
            if c.found.p > LEVEL:
                said += " The exact test does not bear this out."
            elif c.p_holm > LEVEL:
                said += " Looked at alone, that is: not after the correction for all comparisons made."
        case "less":
            said = f"No, {less}: {numbers}."
        case _:
            said = f"Not told apart: {numbers}."
            if c.found.detectable:
                said += f" It would find a true difference of {100 * c.found.detectable:.1f} points four times in five."
    if c.found.per_seed and min(c.found.per_seed) < 0 < max(c.found.per_seed):
        said += " The seeds disagree about the sign."
    return said


def _how_sure(c: Comparison) -> str:
    sure = f"p {_equals(c.found.p)}"
    if p_value(c.p_holm) != p_value(c.found.p):
        sure += f", corrected {_equals(c.p_holm)}"
    if c.found.interval_seeds:
        sure += f"; under these seeds alone {points(c.found.interval)}"
    return sure


def _equals(p: float) -> str:
    shown = p_value(p)
    return shown if shown.startswith("<") else f"= {shown}"
