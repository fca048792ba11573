"""Measures the critic of `english`: gold chains of thought, 2,000 mutants of them, and the paraphrases.

    python -m tools.english_bench --data DIR [--num 400] [--seed 0] [--json FILE]

DIR holds the published files. Gold chains are the data sets' own where they have any (PrOntoQA and its deduction
rules); for ProofWriter, syllogisms and DeontiQA they are the kernel's proofs in the context's own sentences. A mutant
that is certified is asked of Z3: every clause of its certificate must follow from the context, the answer too.
"""

import argparse
import gzip
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import z3

from critics.formats.english.critic import read_english
from critics.problem import Attempt, Problem, read_problem
from critics.replay.clauses import Implication, ground_terms, read_clause
from critics.replay.formula import Literal
from critics.text.english.language import language_of
from critics.verdict import Certified
from rollout.problems.deontiqa import DeontiQA
from rollout.problems.deontiqa import generate as deontiqa
from rollout.prompts.sentence import read_aloud
from rollout.published.loaders import load_published
from tools.english_proofs import Proof, inner, proof_of

MUTATIONS = ("negated", "rule swapped", "foreign", "jumped", "step dropped", "citation dropped", "flipped")


@dataclass(frozen=True, slots=True)
class Chain:
    """A gold chain of thought: its sentences, and the last line."""

    problem: Problem
    sentences: tuple[str, ...]
    answer: str

    @property
    def text(self) -> str:
        """The completion."""
        return " ".join(self.sentences) + f"\nAnswer: {self.answer}"


def prontoqa(path: Path, num: int) -> list[Chain]:
    """Return PrOntoQA's own chains, spread evenly over a file."""
    chains = {record["id"]: tuple(record.get("chain_of_thought") or record["explanation"]) for record in _records(path)}
    problems = [problem for problem in load_published(path) if problem.id in chains]
    return [
        Chain(problem, tuple(" ".join(s.split()) for s in chains[problem.id]), _said(problem, problem.answer or "true"))
        for problem in problems[:: max(1, len(problems) // num)]
    ]


def deductions(path: Path, num: int) -> list[Chain]:
    """Return the chains of PrOntoQA's deduction rules, those included that the Horn translator refuses."""
    found = list(_records(path))[:num]
    return [
        Chain(
            Problem(r["id"], "prontoqa-ood", r["context"], r["query"], answer="true"),
            tuple(" ".join(s.split()) for s in r["chain_of_thought"]),
            "true",
        )
        for r in found
    ]


def proved(problems: Iterator[Problem] | Sequence[Problem], num: int) -> list[Chain]:
    """Return the kernel's proofs of problems, in sentences."""
    found: list[Chain] = []
    for problem in problems:
        proof = proof_of(problem) if problem.formal is not None else None
        if proof is not None:
            found.append(Chain(problem, tuple(_sentences(proof)), _said(problem, proof.value)))
        if len(found) == num:
            break
    return found


def undecided(problems: Sequence[Problem], num: int) -> list[Chain]:
    """Return chains that say all that bears on a question which nothing decides, and then so."""
    found: list[Chain] = []
    for problem in problems:
        language = language_of(problem)
        known, goal = language.saturation().known, language.goal[0].fact
        if goal in known or goal.negated() in known or problem.formal is None:
            continue
        own = re.split(r"(?<=\.)\s+", problem.context.strip())
        said = dict(zip(problem.formal.axioms, own, strict=False))
        missing = language.unsaid(set())
        facts = [said.get(str(clause)) or read_aloud(clause.fact, problem.context) for clause in missing]
        asked = f"We need to determine whether {inner(read_aloud(goal, problem.context))}."
        answer = "invalid" if problem.dataset == "syllogism" else "unknown"
        found.append(Chain(problem, (asked, *facts, "Nothing else follows."), answer))
        if len(found) == num:
            break
    return found


def paraphrases(path: Path) -> dict[str, dict[str, int]]:
    """Judge the paraphrases; return how many of each style are certified, by half."""
    table: dict[str, dict[str, int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        problem = read_problem(record["problem"])
        verdict = read_english(problem, Attempt(record["id"], problem, "english", record["completion"]))
        row = table.setdefault(record["style"], {"tuning": 0, "held-out": 0})
        row[record["half"]] += isinstance(verdict, Certified)
    return table


def _sentences(proof: Proof) -> Iterator[str]:
    said: set[str] = set()
    for hop in proof.hops:
        for sentence in (*hop.facts, *([hop.rule] if hop.rule else []), hop.conclusion):
            if sentence not in said:
                yield sentence
                said.add(sentence)


def _said(problem: Problem, answer: str) -> str:
    if problem.dataset == "syllogism":
        return {"true": "valid", "false": "invalid"}.get(answer, answer)
    return answer


def mutants(chains: Sequence[Chain], num: int, seed: int) -> Iterator[tuple[str, Chain]]:
    """Yield mutants of the chains, of each kind in turn."""
    rng = random.Random(seed)
    made = 0
    while made < num:
        kind = MUTATIONS[made % len(MUTATIONS)]
        chain, other = rng.choice(chains), rng.choice(chains)
        mutant = _mutated(kind, chain, other, rng)
        if mutant is not None and mutant.text != chain.text:
            made += 1
            yield kind, mutant


def _mutated(kind: str, chain: Chain, other: Chain, rng: random.Random) -> Chain | None:
    sentences = list(chain.sentences)
    context = [f"{sentence.rstrip('.')}." for sentence in re.split(r"(?<=\.)\s+", chain.problem.context.strip())]
    rules = [sentence for sentence in context if _is_rule(sentence)]
    steps = [at for at, sentence in enumerate(sentences) if sentence not in context]
    places = {
        "rule swapped": [at for at, sentence in enumerate(sentences) if sentence in rules],
        "jumped": [at for at in steps[:-1] if at],
        "step dropped": steps,
        "citation dropped": [at for at, sentence in enumerate(sentences) if sentence in context],
    }.get(kind, list(range(len(sentences))))
    if not places:
        return None
    at = rng.choice(places)
    match kind:
        case "negated":
            sentences[at] = _negated(sentences[at])
        case "rule swapped":
            sentences[at] = rng.choice(rules)
        case "foreign":
            sentences[at] = rng.choice(other.sentences)
        case "jumped":
            del sentences[at - 1 : at + 1]
        case "step dropped" | "citation dropped":
            del sentences[at]
        case _:
            flips = {"true": "false", "false": "true", "A": "B", "B": "A", "valid": "invalid", "invalid": "valid"}
            return replace(chain, answer=flips.get(chain.answer, "true"))
    return replace(chain, sentences=tuple(sentences))


def _is_rule(sentence: str) -> bool:
    return re.match(r"[A-Z0-9][a-z0-9]* (?:is|[a-z]+s|does) |The ", sentence) is None or " are " in sentence


def _negated(sentence: str) -> str:
    for one, other in (
        (" is not ", " is "), (" are not ", " are "), (" does not ", " does "),
        (" is ", " is not "), (" are ", " are not "),
    ):  # fmt: skip
        if one in sentence:
            return sentence.replace(one, other, 1)
    return f"It is not the case that {inner(sentence)}."


def refuted_by_truth_table(certificate: Mapping[str, Any]) -> bool:
    """Ask Z3 whether something that a certificate says does not follow from its axioms."""
    axioms = [read_clause(text) for text in certificate["problem"]["formal"]["axioms"]]
    entries = [entry for entry in certificate["evidence"]["entries"] if entry["how"] in ("rule", "chain", "cases")]
    if any(entry["how"] == "assumption" for entry in certificate["evidence"]["entries"]):
        entries = []
    said = [read_clause(entry["says"]) for entry in entries]
    goal = [read_clause(text) for text in certificate["evidence"]["goal"]]
    claims = {"true": goal, "false": [Implication((), (c.fact.negated(),)) for c in goal if c.is_fact]}
    truth = certificate["claim"]
    options = certificate["problem"]["options"]
    if options is not None:
        truth = options[ord(truth) - ord("A")].split(") ")[-1].strip().lower()
        truth = "true" if truth == "valid" else truth
    return not all(_follows(axioms, clause) for clause in [*said, *claims.get(truth, [])])


def _follows(axioms: Sequence[Implication], clause: Implication) -> bool:
    solver = z3.Solver()
    fresh = {variable: f"any-{place}" for place, variable in enumerate(clause.variables())}
    clause = clause.substitute(fresh)
    for axiom in axioms:
        for instance in _instances(axiom, ground_terms([*axioms, clause]) or ["something"]):
            solver.add(z3.Or([_atom(literal) for literal in instance.alternatives()]))
    solver.add(*[z3.Not(_atom(literal)) for literal in clause.alternatives()])
    return solver.check() == z3.unsat


def _instances(clause: Implication, terms: Sequence[Any]) -> Iterator[Implication]:
    variables = clause.variables()
    if not variables:
        yield clause
        return
    for term in terms:
        yield from _instances(clause.substitute({variables[0]: term}), terms)


def _atom(literal: Literal) -> Any:
    atom = z3.Bool(str(literal if literal.positive else literal.negated()))
    return atom if literal.positive else z3.Not(atom)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def measured(chains: Sequence[Chain]) -> dict[str, Any]:
    """Judge gold chains; return counts, reasons and time."""
    reasons: Counter[str] = Counter()
    certified, covered, start = 0, 0.0, time.perf_counter()
    examples: list[str] = []
    for chain in chains:
        verdict = read_english(chain.problem, Attempt(chain.problem.id, chain.problem, "english", chain.text))
        if isinstance(verdict, Certified):
            certified += 1
            covered += verdict.coverage or 0.0
        else:
            reasons[f"{verdict.verdict}: {verdict.reason}"] += 1
            examples.append(f"{chain.problem.id}: {verdict.feedback}")
    spent = time.perf_counter() - start
    return {
        "n": len(chains),
        "certified": certified,
        "coverage": round(covered / max(1, certified), 3),
        "reasons": dict(reasons),
        "ms": round(1000 * spent / max(1, len(chains)), 1),
        "examples": examples[:8],
    }


def attacked(chains: Sequence[Chain], num: int, seed: int) -> dict[str, Any]:
    """Judge mutants; return how many of each kind are certified, and how many of these Z3 refutes."""
    table: dict[str, dict[str, Any]] = {kind: {"n": 0, "certified": 0, "refuted": 0} for kind in MUTATIONS}
    examples: list[str] = []
    for kind, mutant in mutants(chains, num, seed):
        # The gold answer is hidden: the critic must not lean on it.
        problem = replace(mutant.problem, answer=None)
        verdict = read_english(problem, Attempt(problem.id, problem, "english", mutant.text))
        table[kind]["n"] += 1
        if isinstance(verdict, Certified):
            table[kind]["certified"] += 1
            gold = mutant.problem.answer
            if refuted_by_truth_table(verdict.certificate.record()) or gold not in (None, verdict.answer):
                table[kind]["refuted"] += 1
            examples.append(f"{kind} {problem.id}: {mutant.text}")
    return {**table, "examples": examples[:12]}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--num", type=int, default=400)
    parser.add_argument("--mutants", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--paraphrases", type=Path, default=Path("tests/data/english_paraphrases.jsonl"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    data, num = options.data, options.num
    sources: dict[str, Callable[[], list[Chain]]] = {
        "prontoqa dev": lambda: prontoqa(data / "prontoqa_dev_partA.jsonl.gz", num),
        "prontoqa 1-5 hops": lambda: prontoqa(data / "prontoqa_seed19_1to5hop.jsonl.gz", num),
        "prontoqa-ood": lambda: deductions(data / "prontoqa_ood_seed2026.jsonl.gz", 480),
        "proofwriter dev": lambda: proved(list(load_published(data / "proofwriter_dev_partA.jsonl.gz")), num),
        "proofwriter train": lambda: proved(list(load_published(data / "proofwriter_train.jsonl.gz")), num),
        "syllogism": lambda: proved(list(load_published(data / "syllogisms.jsonl.gz")), num),
        "proofwriter dev, unknown": lambda: undecided(
            list(load_published(data / "proofwriter_dev_partA.jsonl.gz")), num
        ),
        "syllogism, invalid": lambda: undecided(list(load_published(data / "syllogisms.jsonl.gz")), num),
        "deontiqa (own)": lambda: proved(deontiqa(DeontiQA(), num, seed=options.seed), min(num, 100)),
    }
    result: dict[str, Any] = {"gold": {}, "seed": options.seed}
    every: list[Chain] = []
    for name, source in sources.items():
        chains = source()
        every += chains[:200]
        result["gold"][name] = measured(chains)
        print(name, json.dumps(result["gold"][name], ensure_ascii=False)[:1500], flush=True)
    result["paraphrases"] = paraphrases(options.paraphrases)
    print(json.dumps(result["paraphrases"]), flush=True)
    result["mutants"] = attacked(every, options.mutants, options.seed)
    print(json.dumps(result["mutants"], indent=1, ensure_ascii=False))
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
