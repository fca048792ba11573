"""FOLIO's premises put into formulas, and into words: what AutoEval's score is compared with (appendix K.1).

Each premise is asked with another one of its story as the solved example, as in the paper. Formulas are judged by the
critic of `equivalence` against the annotation; words are compared with the sentence by BLEU, ROUGE and METEOR, which
a `not` more or less hardly changes. They are for comparison with the literature (appendix K.1), not for truth.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

from critics.errors import InputError
from critics.formats.equivalence.language import Language, read_formula
from critics.judge import JudgePool, Judging
from critics.problem import Formal, Problem
from critics.replay.first_order.syntax import (
    Atom,
    Compound,
    Constant,
    FormulaError,
    Not,
    Variable,
    signature,
    subformulas,
)
from critics.replay.replies import without_thinking
from rollout.formulas.prompt import into_signs, into_words, read_notation
from rollout.policies.policy import ChatPolicy
from rollout.prompts.conversation import Message, message
from rollout.published.first_order import load_folio
from rollout.records.digests import ServerUse
from rollout.records.sampling import Sampling, batches, derived_seed
from rollout.records.traces import Trace
from tools.autoeval.figures import draw
from training.autoeval.scores import FATES, counts_record, scores_of
from training.configuration.run import ArmConfig, SingleConfig, load_run
from training.curation.filters import judged
from training.outcomes import Table, mean, pooled, table_of
from training.records.store import write_json
from training.reporting.runs import spent_in
from training.rounds.problems import drawn
from training.workers.strategies import named_models, quiet_policy

Way = Literal["autoformalise", "informalise"]
MAX_OPERATORS = 6
"""Few premises have more, so that the paper compares with AutoEval's score up to here."""


@dataclass(frozen=True, slots=True)
class Premise:
    """A sentence with its formula, and another pair of the same story."""

    id: str
    sentence: str
    formula: str
    meta: dict[str, Any]
    example: tuple[str, str]
    """The formula and the sentence that are shown."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """A policy's formula or words for a premise, thinking stripped, with what it was asked."""

    prompt: str
    text: str
    server: ServerUse | None = None


def premises(problems: Iterable[Problem]) -> Iterator[Premise]:
    """Yield the premises of FOLIO's stories, each sentence once, that have a formula which can be read.

    Left out: stories with another number of formulas than of sentences, and formulas with equality.
    """
    seen: set[tuple[str, str]] = set()
    for problem in problems:
        sentences, formulas = problem.context.splitlines(), problem.meta.get("premises_fol") or ()
        if len(sentences) != len(formulas):
            continue
        known = [
            (number, sentence, formula, meta)
            for number, (sentence, formula) in enumerate(zip(sentences, formulas, strict=True))
            if (meta := _meta(formula)) is not None
        ]
        for (_, said, shown, _), (number, sentence, formula, meta) in pairwise([known[-1], *known] if known else []):
            if (sentence, formula) not in seen and said != sentence:
                seen.add((sentence, formula))
                yield Premise(f"{problem.id}/{number}", sentence, formula, meta, (shown, said))


def _meta(formula: str) -> dict[str, Any] | None:
    """Return what a prompt lists of a formula; None where it cannot be read."""
    try:
        read = read_formula(formula, Language.FIRST_ORDER).formula
    except FormulaError:
        return None
    used, parts = signature([read]), list(subformulas(read))
    terms = [term for part in parts for term in getattr(part, "arguments", ())]
    # The ¬ of a literal is none, as in the generated sets (`rollout.formulas.derivation`).
    negations = [part for part in parts if isinstance(part, Not) and not isinstance(part.body, Atom)]
    operators = len(negations) + sum(len(part.operands) - 1 for part in parts if isinstance(part, Compound))
    return {
        "language": Language.FIRST_ORDER.value,
        "english": True,
        "all_names": True,
        "category": operators,
        "predicates": dict(used.predicates) | dict.fromkeys(used.propositions, 0),
        "objects": sorted({term.name for term in terms if isinstance(term, Constant)}),
        "variables": sorted({term.name for term in terms if isinstance(term, Variable)}),
        "signs": [sign for sign in "→↔⊕" if sign in formula],
    }


def written(
    policy: ChatPolicy, asked: Sequence[Premise], way: Way, sampling: Sampling, *, seed: int, batch_size: int
) -> Iterator[Rendering]:
    """Yield what a policy writes for each premise."""
    for batch in batches(asked, batch_size):
        prompts = [policy.conversation(_request(premise, way)) for premise in batch]
        seeds = [derived_seed(seed, premise.id, way) for premise in batch]
        completions = policy.complete(prompts, None, seeds, sampling)
        for prompt, completion in zip(prompts, completions, strict=True):
            yield Rendering(prompt, without_thinking(completion.text), completion.server)


def _request(premise: Premise, way: Way) -> list[Message]:
    """Return the request for one premise after a solved one of the same story."""
    formula, sentence = premise.example
    shown = into_signs if way == "autoformalise" else into_words
    source, reply = (sentence, formula) if way == "autoformalise" else (formula, sentence)
    own = premise.sentence if way == "autoformalise" else premise.formula
    asked = [
        shown(replace(read_notation(meta), signs=frozenset("→↔⊕")), text, "zero-shot")
        for meta, text in ((_meta(formula) or premise.meta, source), (premise.meta, own))
    ]
    (system, solved), (_, user) = (turns for turns in asked if not isinstance(turns, str))
    return [system, solved, message("assistant", reply), user]


def autoformalised(replies: Sequence[Rendering], asked: Sequence[Premise], judging: Judging) -> Mapping[str, object]:
    """Return how many formulas mean what the annotation does, by operators too; undecided and malformed apart."""
    attempts: list[Trace] = []
    for each, reply in zip(asked, replies, strict=True):
        formal = Formal((), each.formula)
        problem = Problem(each.id, "folio-premises", each.sentence, "", formal=formal, meta=each.meta)
        claim = {"language": Language.FIRST_ORDER.value, "left": each.formula, "right": reply.text}
        attempts.append(Trace(each.id, problem, "equivalence", json.dumps(claim, ensure_ascii=False)))
    found = scores_of(judged(attempts, judging), up_to=MAX_OPERATORS)
    return {**counts_record(pooled(found["rows"], FATES)), **found}


def informalised(replies: Sequence[Rendering], asked: Sequence[Premise]) -> Mapping[str, object]:
    """Return the mean similarity of the words with the sentences, by the formulas' operators too.

    Raises `InputError` where a package is missing.
    """
    table = table_of(
        {"category": each.meta["category"], "said": reply.text, "sentence": each.sentence}
        for reply, each in zip(replies, asked, strict=True)
    )
    rows = [{"category": category, **_similar(own)} for category, own in table.groupby("category")]
    return {**_similar(table), "meteor_matches": METEOR_MATCHES, "rows": rows}


def _similar(rows: Table) -> dict[str, float]:
    return {"n": len(rows), **similarities(list(rows["said"]), list(rows["sentence"]))}


# -- similarity of texts, by packaged implementations (optional)

METEOR_MATCHES = "exact and stem, no synonyms"
"""Words that METEOR pairs."""
EXTRA = "pip install 'certistar[autoeval]'"


def bleu(candidates: Sequence[str], references: Sequence[str]) -> float:
    """Return sacreBLEU's corpus score, from 0 to 1."""
    pairs = _paired(candidates, references)
    said, right = ([pair[end] for pair in pairs] for end in (0, 1))
    return float(_package("sacrebleu").corpus_bleu(said, [right]).score) / 100


def rouge(candidates: Sequence[str], references: Sequence[str]) -> float:
    """Return the mean F-measure of rouge-score's rougeL, with stems."""
    pairs = _paired(candidates, references)
    scorer = _package("rouge_score.rouge_scorer", "rouge-score").RougeScorer(["rougeL"], use_stemmer=True)
    return mean([scorer.score(reference, said)["rougeL"].fmeasure for said, reference in pairs])


def meteor(candidates: Sequence[str], references: Sequence[str]) -> float:
    """Return the mean of NLTK's METEOR as far as it needs no data: equal words, then equal stems (Porter).

    NLTK would have to download WordNet for METEOR's third step. Synonyms are therefore left out everywhere, so that one
    text has one score whatever is installed: a match more could only raise the score's recall and precision.
    """
    pairs = _paired(candidates, references)
    single: Callable[..., float] = _package("nltk.translate.meteor_score", "nltk").single_meteor_score

    def no_synonyms(_: str) -> list[Any]:
        return []

    wordnet = SimpleNamespace(synsets=no_synonyms)
    return mean([single(reference.split(), said.split(), wordnet=wordnet) for said, reference in pairs])


def similarities(candidates: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """Return all three, METEOR by `METEOR_MATCHES`; raises `InputError` where a package is missing, or all texts."""
    return {each.__name__: each(candidates, references) for each in (bleu, rouge, meteor)}


def _paired(candidates: Sequence[str], references: Sequence[str]) -> list[tuple[str, str]]:
    if not candidates or len(candidates) != len(references):
        raise InputError(f"{len(candidates)} texts cannot be compared with {len(references)} references")
    return list(zip(candidates, references, strict=True))


def _package(module: str, package: str | None = None) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"this score needs the package {package or module!r}, which is not installed: {EXTRA}"
        ) from error


# -- from the command line


def ask(config: Path, file: Path, out: Path, models: Sequence[str], num: int | None, overrides: Sequence[str]) -> None:
    """Ask each model both ways about the premises of a FOLIO file; write OUT/MODEL/folio-WAY/scores.json."""
    loaded = load_run(config, list(overrides))
    asked = drawn(list(premises(load_folio(file))), num, 0)
    if not asked:
        raise InputError(f"{file}: has no premise with a formula that can be read")
    sampling = loaded.sampling.sampling("free", temperature=loaded.evaluation.temperature, samples=1)
    ways: tuple[Way, ...] = ("autoformalise", "informalise")
    with JudgePool() as pool:
        for model in named_models(loaded, models, None):
            policy = cast("ChatPolicy", quiet_policy(model.config, ARM, model.adapter))
            for way in ways:
                size = loaded.evaluation.batch_size
                replies = list(written(policy, asked, way, sampling, seed=0, batch_size=size))
                found = (
                    informalised(replies, asked) if way == "informalise" else autoformalised(replies, asked, pool.judge)
                )
                record = {"benchmark": f"folio-{way}", "model": model.label, **found}
                record["spent"] = spent_in(reply.server for reply in replies)
                write_json(out / model.folder / f"folio-{way}" / "scores.json", record)
                told = {key: f"{found[key]:.3f}" for key in ("score", "bleu", "rouge", "meteor") if key in found}
                print(f"{model.label}, folio-{way}: n {found['n']}, {told}")
    draw([out], out)


ARM = ArmConfig(name="premises", keep="unfiltered", decoding="free", strategy=SingleConfig(name="cot"))
