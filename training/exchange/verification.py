"""Checks of what was pulled: the adapter's digests, every certificate, and that each example is what one is about.

Whatever could not be checked is not accepted. Not checked is that token ids spell the text beside them, which takes the
base model's tokenizer.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.judge import Judging
from critics.problem import Problem, RecordError
from critics.recheck import recheck
from critics.recheck.rejudging import BAD_LINE, ILL_FORMED, objection
from rollout.prompts.conversation import Message
from rollout.prompts.demonstration import numbered_sentences
from rollout.records.traces import Trace, read_trace, with_judgement
from training.curation.filters import CERTIFIED, is_certified, is_strict
from training.exchange.examples import EXAMPLES, StoredExample, read_example
from training.exchange.finding import is_trained_on, read_json
from training.lessons.judged_fields import TEMPLATE_MARKS
from training.lineage import entries
from training.lineage.adapter_files import MANIFEST, AdapterError, verify_adapter
from training.lineage.kept import CERTIFICATES
from training.lineage.revocation import revoked_examples
from training.records.store import StoreError, read_lines

_LEADS = re.compile(r"\b(?:answer|reasoning|solution|proof|let's think step by step)\b[:.]?|\\n|[\"}\]]", re.IGNORECASE)
"""What may stand behind a question, but for the marks of chat templates: words that begin an answer, and the end of
JSON."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """One thing that does not hold, and the reason."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class CheckedDataset:
    """Counts and rejections of a dataset folder."""

    examples: int
    uncertified: int
    certificates: int
    accepted: int
    rejected: Sequence[Rejection]


def check_adapter(folder: Path) -> list[Rejection]:
    """Return why an adapter is rejected: weights that are not its manifest's, or that nobody vouches for."""
    try:
        note = verify_adapter(folder)
    except AdapterError as error:
        return [Rejection("adapter", str(error).replace(str(folder), folder.name))]
    rejected = [] if note is None else [Rejection("adapter", f"{MANIFEST} names no weights")]
    root, path = read_json(folder / MANIFEST).get("lineage"), folder / entries.LINEAGE
    if root != (entries.merkle_root(entries.read_entries(path)) if path.is_file() else None):
        # Attack: another origin for the same weights.
        rejected.append(Rejection(entries.LINEAGE, f"{MANIFEST} names another root of the lineage"))
    return rejected


def check_pair(adapter: Path, dataset: Path) -> list[Rejection]:
    """Return a rejection where the adapter was not trained on exactly these examples."""
    named = is_trained_on(adapter, dataset)
    return [] if named else [Rejection(EXAMPLES, "the adapter's manifest names another dataset")]


def check_dataset(folder: Path, judging: Judging) -> CheckedDataset:
    """Return counts and rejections of a dataset folder; raises `InputError` where it is none."""
    for name in (EXAMPLES, CERTIFICATES):
        if not (folder / name).is_file():
            raise InputError(f"{name} is missing, so this is no dataset of Certistar's; push it again")
    rejected: list[Rejection] = []
    records = list(_records(folder / CERTIFICATES, rejected))
    result = recheck(records)
    traces = list(_traces(records, rejected))
    rejected += [Rejection(str(each["id"]), each["reason"]) for each in result["rejected"]]
    rejected += [*_judged_again(traces, judging), *_other_lineage(folder)]
    rejected += [Rejection(id_, "revoked") for id_ in revoked_examples(folder)]
    keep, examined = _keep(folder), list(_examined(folder, traces, rejected))
    rejected += [Rejection(t.id, "not_strict") for t in traces if keep in ("strict", "faithful") and not is_strict(t)]
    for example, reason in examined:
        if reason is not None or (keep in CERTIFIED and example.certificate is None):
            rejected.append(Rejection(example.id, reason or "no_certificate"))
    uncertified = sum(example.certificate is None for example, _ in examined)
    return CheckedDataset(len(examined), uncertified, result["checked"], result["accepted"], rejected)


def _records(path: Path, rejected: list[Rejection], *, checksum: bool = True) -> Iterator[dict[str, Any]]:
    """Yield the records of a file; a line that is none is a rejected one, and the file goes on."""
    for line in read_lines(path, checksum=checksum):
        if isinstance(line, StoreError):
            rejected.append(Rejection(str(line).partition(": ")[0], BAD_LINE))
        else:
            yield line


def _traces(records: Iterable[dict[str, Any]], rejected: list[Rejection]) -> Iterator[Trace]:
    for record in records:
        try:
            yield read_trace(record)
        except RecordError:
            rejected.append(Rejection(str(record.get("id")), ILL_FORMED))


def _examples(folder: Path, rejected: list[Rejection]) -> Iterator[StoredExample]:
    for record in _records(folder / EXAMPLES, rejected, checksum=False):
        try:
            yield read_example(record)
        except InputError:
            rejected.append(Rejection(str(record.get("id")), ILL_FORMED))


def _other_lineage(folder: Path) -> Iterator[Rejection]:
    try:
        entries.check_dataset(folder)
    except (entries.LineageError, StoreError, KeyError):
        yield Rejection(entries.LINEAGE, f"is not the lineage of {EXAMPLES}")


def _keep(folder: Path) -> str:
    path = folder / "summary.json"
    return read_json(path).get("keep", "strict") if path.is_file() else "strict"


def _judged_again(traces: list[Trace], judging: Judging) -> Iterator[Rejection]:
    """Yield the attempts of which their critic does not say again what their judgement says."""
    fresh = judging([replace(trace, judgement=None).record() for trace in traces])
    for trace, verdict in zip(traces, fresh, strict=True):
        now = with_judgement(trace, verdict).judged
        if trace.judgement is None or not is_certified(trace):
            # Attack: a certificate that `recheck` skips, because nobody claims that it holds.
            yield Rejection(trace.id, "not_certified")
        elif reason := objection(trace.judged.record(trace.id), now.record(trace.id)):
            # Attack: a good certificate beside a text that it does not belong to.
            yield Rejection(trace.id, reason)


def _examined(
    folder: Path, traces: list[Trace], rejected: list[Rejection]
) -> Iterator[tuple[StoredExample, str | None]]:
    """Yield the examples, each with the reason why it is not what its certificate is about."""
    traces_of: dict[str, list[Trace]] = defaultdict(list)
    for trace in traces:
        if trace.judgement is not None:
            traces_of[str(trace.judged.digest)].append(trace)
    for example in _examples(folder, rejected):
        digest = example.certificate
        if digest is None:
            yield example, None
        elif digest not in traces_of:
            yield example, "certificate_missing"
        elif not any(_teaches(example, trace) for trace in traces_of[digest]):
            # Attack: exchange what is read or learnt under the digest of a proof of something else.
            yield example, "other_text"
        else:
            yield example, None


def _teaches(example: StoredExample, trace: Trace) -> bool:
    """Say whether what an example has a model learn is what the trace holds, and is asked as the trace's problem."""
    if example.is_dialog:
        return all(_stands_in(turn, trace) for turn in example.turns if turn["role"] != "system")
    # Attack: what nobody could read, said to be covered.
    unread = [tuple(stretch) for stretch in example.unread] == list(trace.judged.unread)
    is_asked = _asks(example.prompt, trace.problem) and _ends_there(example.prompt, trace.problem)
    return example.completion == trace.completion and unread and is_asked


def _stands_in(turn: Message, trace: Trace) -> bool:
    """Say whether a turn of a lesson is one of the dialog's, the program of a trace, or its problem."""
    if any((turn["role"], turn["content"]) == (m["role"], m["content"]) for m in trace.messages):
        return True
    if turn["role"] == "assistant":
        return not trace.messages and turn["content"] == trace.completion
    return _asks(turn["content"], trace.problem)


def _ends_there(prompt: str, problem: Problem) -> bool:
    """Say whether the problem's question is the last thing that a prompt says.

    Attack: another question behind it, to which a true certificate's text is then the answer.
    """
    shown = prompt[prompt.rfind(problem.question) + len(problem.question) :]
    for option in problem.options or ():
        shown = shown.replace(option, "", 1)
    return TEMPLATE_MARKS.fullmatch(_LEADS.sub("", shown)) is not None


def _asks(prompt: str, problem: Problem) -> bool:
    """Say whether a prompt holds the question, and the context as it is or sentence by sentence."""
    context = problem.context
    whole = context in prompt or all(sentence in prompt for sentence in numbered_sentences(context))
    return whole and problem.question in prompt
