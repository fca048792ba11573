"""BLEU, ROUGE and METEOR of informalisations against reference texts, by packaged implementations (optional).

They are for comparison with the literature (appendix K.1) and do not measure truth: one `not` more hardly changes them.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from critics.errors import InputError

METEOR_MATCHES = "exact and stem, no synonyms"
"""Words that METEOR pairs."""
EXTRA = "pip install 'certistar[autoeval]'"


def bleu(candidates: Sequence[str], references: Sequence[str]) -> float:
    """Return sacreBLEU's corpus score, from 0 to 1."""
    _same_number(candidates, references)
    return float(_package("sacrebleu").corpus_bleu(list(candidates), [list(references)]).score) / 100


def rouge(candidates: Sequence[str], references: Sequence[str]) -> float:
    """Return the mean F-measure of rouge-score's rougeL, with stems."""
    _same_number(candidates, references)
    scorer = _package("rouge_score.rouge_scorer", "rouge-score").RougeScorer(["rougeL"], use_stemmer=True)
    scores = [
        scorer.score(reference, said)["rougeL"].fmeasure for said, reference in zip(candidates, references, strict=True)
    ]
    return sum(scores) / len(scores)


def meteor(candidates: Sequence[str], references: Sequence[str]) -> float:
    """Return the mean of NLTK's METEOR as far as it needs no data: equal words, then equal stems (Porter).

    NLTK would have to download WordNet for METEOR's third step. Synonyms are therefore left out everywhere, so that one
    text has one score whatever is installed: a match more could only raise the score's recall and precision.
    """
    _same_number(candidates, references)
    single: Callable[..., float] = _package("nltk.translate.meteor_score", "nltk").single_meteor_score
    pairs = zip(candidates, references, strict=True)
    scores = [single(reference.split(), said.split(), wordnet=_NoSynonyms()) for said, reference in pairs]
    return sum(scores) / len(scores)


class _NoSynonyms:
    """Stands in for NLTK's WordNet reader."""

    def synsets(self, _: str) -> list[Any]:
        return []


def similarities(candidates: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """Return all three, METEOR by `METEOR_MATCHES`; raises `InputError` where a package is missing, or all texts."""
    return {
        "bleu": bleu(candidates, references),
        "rouge": rouge(candidates, references),
        "meteor": meteor(candidates, references),
    }


def _same_number(candidates: Sequence[str], references: Sequence[str]) -> None:
    if not candidates or len(candidates) != len(references):
        raise InputError(f"{len(candidates)} texts cannot be compared with {len(references)} references")


def _package(module: str, package: str | None = None) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"this score needs the package {package or module!r}, which is not installed: {EXTRA}"
        ) from error
