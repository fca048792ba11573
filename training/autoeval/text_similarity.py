"""BLEU, ROUGE and METEOR of informalisations against reference texts, by packaged implementations (optional).

They are for comparison with the literature (appendix K.1) and do not measure truth: one `not` more hardly changes them.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from critics.errors import InputError
from training.estimates import mean

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
