"""Numbers of a report in plain English and in tables: whether certification pays here, by how much, and how surely.

No sentence has a margin that was hoped for: it says the difference, its interval, and whether zero is inside.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from critics.problem import is_object
from critics.replay.grades import grades_said
from rollout.records.sampling import Decoding
from training.configuration.learning import CERTIFIED
from training.outcomes import Record, grid, percent, widest

LEVEL = 0.05
Finding: TypeAlias = Literal["more", "less", "open"]
Arms: TypeAlias = Mapping[str, Record]


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


def verdict_sentence(report: Record) -> list[str]:
    """Say whether certification pays, what each arm gained, and how the first arm compares with each other one."""
    arms: Arms = report["arms"]
    sentences = [*_revoked(report.get("revoked")), *_answer(report)]
    gains = [f"{name} {points(arm['gain'])} (95% {points(arm['gain_interval'])})" for name, arm in arms.items()]
    gains[0] = gains[0].replace(" ", " gained ", 1).replace(" (", " points (", 1) + " over its own start"
    ends = {name: (arm["rounds"][0], arm["rounds"][-1]) for name, arm in arms.items()}
    proofs = [
        f"{name} {percent(first['certified'])} → {percent(last['certified'])}"
        f" (lucky guesses {percent(first['lucky'])} → {percent(last['lucky'])})"
        for name, (first, last) in ends.items()
    ]
    sentences += [
        "; ".join(gains) + ".",
        f"Answers with a proof, from the start to the last round: {'; '.join(proofs)}.",
    ]
    said = "; ".join(f"{name} {grades_said(last['grades']) or 'none'}" for name, (_, last) in ends.items())
    if any(last["grades"] for _, last in ends.values()):
        sentences.append(f"Proofs by grade, in the last round: {said}.")
    certified = {c["b"]: c for c in report["comparisons"] if c["metric"] == "certified"}
    for c in (c for c in report["comparisons"] if c["metric"] == "gain"):
        said = f"Does {c['a']} gain more than {c['b']}? {_said(c, 'it gained less')}"
        if c["b"] in certified:
            said += f" Does it certify more in the end? {_said(certified[c['b']], 'it certifies less')}"
        sentences.append(said)
    if differences := report["provenance"].get("differences"):
        shown = "; ".join(f"{key} ({', '.join(map(str, values))})" for key, values in differences.items())
        sentences.append(f"The runs' configurations differ in {shown}: a difference between arms may come from there.")
    if len({arm["decoding"] for arm in arms.values()}) > 1:
        sentences.append("The arms decode differently, so a gain is measured from the arm's own start.")
    if all(len(arm["seeds"]) == 1 for arm in arms.values()):
        sentences.append("One seed only: how much another training run would differ is not known.")
    return sentences


def _revoked(told: Record | None) -> list[str]:
    if told is None:
        return []
    revoked, num_adapters = told["revoked"], len(told["adapters"])
    what = ", ".join([*(f"certificate {digest[:12]}" for digest in revoked["certificates"]), *revoked["critics"]])
    if num_adapters:
        return [f"Not to be relied on: {num_adapters} adapters of this run rest on what was revoked ({what})."]
    return [f"Revoked ({what}); no adapter of this run rests on it."]


def facts(report: Record) -> list[tuple[str, str]]:
    """Return what a sceptic asks first, with the answers: what was measured, on what, and what was taught before."""
    origin, arms = report["provenance"], report["arms"]
    measured, seeds = origin["evaluation"], next(iter(arms.values()))["seeds"]
    cells = [cell for cell in report["square"] if cell["decoding"] == arms[cell["arm"]]["decoding"]]
    temperature = max((cell["temperature"] for cell in cells), default=1.0)
    how = dict(zip(get_args(Decoding), ("under the guide", "freely"), strict=True))
    ways = {name: how[arm["decoding"]] for name, arm in arms.items()}
    one = len(set(ways.values())) == 1
    decodings = f"every arm {ways[next(iter(ways))]}" if one else "; ".join(map(" ".join, ways.items()))
    last = [arm["rounds"][-1] for arm in arms.values()]
    n = max(found["n"] for found in last)
    answers = f"{n} answers an arm: {measured.get('n', '?')} problems held out (split {measured.get('split', '?')})"
    chance = [found["chance"] for found in last if "chance" in found]
    guess = [("A guess", f"is right on {percent(chance[0])} of them")] if chance else []
    bases = "one; other bases may differ" if report["bases"] == 1 else f"{report['bases']}, trained independently"
    return [
        ("Base models", bases),
        ("Base", f"{origin.get('base', 'see the runs')}: {taught(origin.get('base_provenance'))}"),
        ("Answers", f"{answers} under {len(seeds)} seed{'s' * (len(seeds) > 1)}; n counts answers, not models"),
        *guess,
        ("Decoding", f"{decodings}; T = {temperature:g}"),
        ("Primary metric", report["primary"] or "none was declared before the run"),
    ]


def taught(base: object) -> str:
    """Say how large a base model made here is and what it was taught; of any other that is not known."""
    if not is_object(base):
        return "not made here; what it was taught is not known"
    if "gguf_sha256" in base:
        return f"{base['parameters']:,} parameters; pretrained elsewhere ({base['package']})"
    guesses, wrong = (base.get(f"demonstrations_{key}") for key in ("that_guess", "misformalised"))
    flaws = [f"{percent(guesses)} stop early and guess" for _ in range(1) if guesses]
    flaws += [f"{percent(wrong)} misread a rule" for _ in range(1) if wrong]
    number = base.get("sequences")
    size = base.get("num_parameters")
    shown = f"{size:,} parameters; " if isinstance(size, int) else ""
    shown += f"{number:,} demonstrations" if isinstance(number, int) else "demonstrations"
    shown += f" of at most {base['most_hops']} hops" if base.get("most_hops") else ""
    again = base.get("said_again")
    shown += f" ({again:,} of them only say the context again)" if isinstance(again, int) and again else ""
    if flaws:
        return f"{shown} made here; of the last ones {' and '.join(flaws)}, on purpose"
    other = base.get("wrong_on_purpose")
    return f"{shown} made here, {'some wrong on purpose' if other else 'none wrong on purpose'}"


def widest_interval(comparison: Record) -> tuple[float, float]:
    """Return the interval that speaks of other seeds too, and never a shorter one than that of the pairs alone."""
    return widest(comparison["interval"], comparison["interval_seeds"])


def finding(comparison: Record) -> Finding:
    """Return what an interval says: more, less, or open where it includes zero."""
    low, high = widest_interval(comparison)
    return "more" if low > 0 else "less" if high < 0 else "open"


def _answer(report: Record) -> list[str]:
    """Answer the question that a run of a strict arm against others asks, over the rival that comes closest.

    Two strict arms ask something else, and so do arms without one: nothing is said of them.
    """

    def is_strict(name: str) -> bool:
        keep = report["arms"][name]["keep"]
        return keep in CERTIFIED if keep else name.rsplit(":", 1)[-1] == "strict"

    compared = [c for c in report["comparisons"] if is_strict(c["a"]) and not is_strict(c["b"])]
    gains, proofs = ({c["b"]: c for c in compared if c["metric"] == metric} for metric in ("gain", "certified"))
    if not gains or not proofs:
        return []
    lead = compared[0]["a"]
    if not any(found["kept"] for found in report["arms"][lead]["rounds"]):
        return [f"Not known: {lead} kept no trace, so its last model is its first."]
    named = {what: " and ".join(b for b, c in gains.items() if finding(c) == what) for what in ("more", "less", "open")}
    more_proofs = [b for b, c in proofs.items() if finding(c) == "more"]
    proved = len(more_proofs) == len(proofs)
    if not named["less"] and not named["open"]:
        answer = f"Yes, certification pays here: in accuracy{' and in proofs' * proved}."
    elif named["less"]:
        answer = f"No, certification does not pay here: accuracy gains less than under {named['less']}."
    elif named["more"]:
        answer = (
            f"In part: certification pays here over {named['more']}, "
            f"and the gain in accuracy is not told apart from that of {named['open']}."
        )
    elif more_proofs:
        over = "" if proved else f" over {' and '.join(more_proofs)} alone"
        answer = f"In proofs{over}, not in accuracy: more is certified, and the gains in accuracy are not told apart."
    else:
        answer = "Not known: this run does not show that certification pays here."
    gain = min(gains.values(), key=lambda c: c["difference"])
    proof = proofs[gain["b"]]
    amount = (
        f"Over {gain['b']}{', its closest rival' * (len(gains) > 1)}, {lead} leads by {points(gain['difference'])} "
        f"points of accuracy gained (95% {points(widest_interval(gain))}) and {points(proof['difference'])} of "
        f"certified answers (95% {points(widest_interval(proof))})."
    )
    return [f"{answer} {amount}"]


def _said(c: Record, less: str) -> str:
    """Say what a comparison found, how surely, and what a correction or the seeds leave of it."""
    p, corrected = p_value(c["p"]), p_value(c["p_holm"])
    sure = f"p {p if p.startswith('<') else f'= {p}'}"
    if corrected != p:
        sure += f", corrected {corrected if corrected.startswith('<') else f'= {corrected}'}"
    if c["interval_seeds"]:
        sure += f"; under these seeds alone {points(c['interval'])}"
    numbers = f"{points(c['difference'])} points (95% {points(widest_interval(c))}; {sure}; n = {c['n']})"
    match finding(c):
        case "more":
            said = f"Yes: {numbers}."
            if c["p"] > LEVEL:
                said += " The exact test does not bear this out."
            elif c["p_holm"] > LEVEL:
                said += " Looked at alone, that is: not after the correction for all comparisons made."
        case "less":
            said = f"No, {less}: {numbers}."
        case _:
            said = f"Not told apart: {numbers}."
            if c["detectable"]:
                said += f" It would find a true difference of {100 * c['detectable']:.1f} points four times in five."
    if c["per_seed"] and min(c["per_seed"]) < 0 < max(c["per_seed"]):
        said += " The seeds disagree about the sign."
    return said


# -- tables for the terminal


def table(report: Record) -> Any:
    """Return arms and rounds as a `rich` table."""
    head = ("arm", "round", "n", "accuracy [95%]", "certified [95%]", "by grade", "lucky", "greedy", "kept")
    rows: list[list[str]] = []
    for name, arm in report["arms"].items():
        for found in arm["rounds"]:
            rates = [f"{percent(found[r])} [{percent(found[f'{r}_interval'])}]" for r in ("accuracy", "certified")]
            beside = [grades_said(found["grades"]) or "–", percent(found["lucky"]), percent(found["accuracy_greedy"])]
            first = [name, "start"] if not found["round"] else ["", str(found["round"])]
            rows.append([*first, str(found["n"]), *rates, *beside, str(found["kept"])])
        rows.append([])
    return grid(head, rows, "llrrrrrrr")


def comparison_table(report: Record) -> Any:
    """Return the comparisons as a `rich` table."""
    head = ("metric", "between", "difference [95%]", "seeds too [95%]", "p", "p, Holm", "n", "detectable")
    rows: list[list[str]] = []
    for c in report["comparisons"]:
        differs = [f"{points(c['difference'])} [{points(c['interval'])}]", points(c["interval_seeds"])]
        detectable = "–" if c["detectable"] is None else f"{100 * c['detectable']:.1f}"
        ps = [p_value(c["p"]), p_value(c["p_holm"]), str(c["n"])]
        rows.append([c["metric"], f"{c['a']} - {c['b']}", *differs, *ps, detectable])
    return grid(head, rows, "llrrrrrr", caption="points; paired answers")
