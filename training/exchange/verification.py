"""Checks of what was pulled: the adapter's digests, every certificate, and that each example is what one proves.

Nothing is believed. An attempt is judged again, what it teaches is made again from the judgement, and an example that
differs in any key is rejected. Whatever could not be checked is not accepted. Not checked is that token ids spell the
text beside them, which takes the base model's tokenizer; `certistar train` checks that.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

from critics.errors import InputError
from critics.judge import Judging
from critics.problem import RecordError, is_list, is_object
from critics.recheck.index import recheck_evidence
from critics.recheck.rejudging import BAD_LINE, ILL_FORMED, objection
from rollout.actor_critic.prompt import system_text
from rollout.programs.prompt import languages, opening
from rollout.prompts.conversation import Messages, message
from rollout.records.traces import Trace, read_trace, with_judgement
from rollout.settings import DialogSettings
from training.curation.filters import funnel, outline
from training.curation.outcomes import KeptSummary
from training.exchange.hub import PARTS, Place
from training.exchange.parcels import is_trained_on, read_json
from training.lessons.judged_fields import asks_for, is_derived_prompt
from training.lineage import entries
from training.lineage.adapters import MANIFEST, AdapterError, verify_adapter
from training.lineage.kept import CERTIFICATES, EXAMPLES, SUMMARY, write_card
from training.lineage.revocation import revoked_examples
from training.records.store import StoreError, read_lines, write_json

Accepted = Literal["strict", "trusted", "unfiltered"]
ACCEPTED: tuple[Accepted, ...] = get_args(Accepted)
"""Choices of whoever pulls: certificates that `strict` keeps, any certificate, or texts that nothing proves too."""
_TEXT = frozenset(("id", "prompt", "completion", "certificate"))
_DIALOG: frozenset[str] = frozenset(("id", "messages", "turns", "kind", "classes", "certificate"))
_OF_TEXTS = frozenset((
    *(*_TEXT, "completion_ids", "unread", "formalisation", "step_validity", "premise_grounding"),
    *("direction", "category"),
))  # fmt: skip
"""Keys of examples of texts; no trainer takes one for a text beside the text."""
_ORIGINS = ("derived_from", "by")


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


def fetched_and_checked(place: Place, source: str, staged: Path, judging: Judging, accepts: Accepted) -> dict[str, Any]:
    """Fetch what a place holds into a new folder and check it; return the counts and what is rejected, in JSON."""
    staged.mkdir()
    there = [part for part in PARTS if place.fetch(part, staged / part)]
    if not there:
        raise InputError(f"{source}: holds neither an adapter nor a dataset that `certistar push` wrote")
    counts: dict[str, int] = {}
    adapter, dataset = (staged / part for part in PARTS)
    rejected = check_adapter(adapter) if "adapter" in there else []
    if "dataset" in there:
        checked = check_dataset(dataset, judging, accepts)
        rejected += checked.rejected
        counts = {name: num for name, num in asdict(checked).items() if name != "rejected"}
    if there == list(PARTS) and not is_trained_on(adapter, dataset):
        rejected.append(Rejection(EXAMPLES, "the adapter's manifest names another dataset"))
    return {"pulled": there, "rejected": [asdict(each) for each in rejected], **counts}


def check_adapter(folder: Path) -> list[Rejection]:
    """Return why an adapter is rejected: weights that are not its manifest's, or that nobody vouches for."""
    try:
        note = verify_adapter(folder)
    except AdapterError as error:
        return [Rejection("adapter", str(error).replace(str(folder), folder.name))]
    rejected = [] if note is None else [Rejection("adapter", f"{MANIFEST} names no weights")]
    root, path = read_json(folder / MANIFEST).get("lineage"), folder / entries.LINEAGE
    if root is None or not path.is_file() or root != entries.lineage_digest(entries.read_entries(path)):
        # Attack: another origin for the same weights, or none.
        rejected.append(Rejection(entries.LINEAGE, f"{MANIFEST} names another lineage, or there is none"))
    return rejected


def check_dataset(folder: Path, judging: Judging, accepts: Accepted = "strict") -> CheckedDataset:
    """Return counts and rejections of a dataset folder, whose summary and card are then made again of what was checked.

    Raises `InputError` where it is none.
    """
    for name in (EXAMPLES, CERTIFICATES, entries.LINEAGE):
        if not (folder / name).is_file():
            raise InputError(f"{name} is missing, so this is no dataset of Certistar's; push it again")
    rejected: list[Rejection] = []
    records = list(_records(folder / CERTIFICATES, rejected))
    result = recheck_evidence(records)
    rejected += [Rejection(str(each["id"]), each["reason"]) for each in result["rejected"]]
    traces = list(_judged_again(records, judging, rejected))
    if accepts == "strict":
        rejected += [Rejection(trace.id, "not_strict") for trace in traces if not trace.judged.is_strict]
    examples = list(_records(folder / EXAMPLES, rejected))
    rejected += [*_not_taught(examples, traces, accepts), *_other_lineage(folder, examples, traces)]
    rejected += [Rejection(id_, "revoked") for id_ in revoked_examples(folder)]
    shaped = [example for example in examples if _is_shaped(example)]
    uncertified = sum(example["certificate"] is None for example in shaped)
    if not rejected:  # summary and card of what was checked: whoever pushed may have counted otherwise
        strict = all(trace.judged.is_strict for trace in traces)
        keep = "unfiltered" if uncertified else "strict" if strict else "trusted"
        counts = funnel(list(map(outline, traces)), len(traces))
        summary: KeptSummary = {"keep": keep, **counts, "examples": len(examples)}
        write_json(folder / SUMMARY, summary)
        write_card(folder, folder.name, summary)
    return CheckedDataset(len(shaped), uncertified, result["checked"], result["accepted"], rejected)


def _records(path: Path, rejected: list[Rejection]) -> Iterator[dict[str, Any]]:
    """Yield the records of a file; a line that is none is a rejected one, and the file goes on."""
    for line in read_lines(path, checksum=path.name == CERTIFICATES):
        if isinstance(line, StoreError):
            rejected.append(Rejection(str(line).partition(": ")[0], BAD_LINE))
        else:
            yield line


def _judged_again(records: Iterable[Mapping[str, Any]], judging: Judging, rejected: list[Rejection]) -> Iterator[Trace]:
    """Yield the certified attempts with what their critics say now; reject those of which a file says otherwise."""
    traces: list[tuple[Trace, Mapping[str, Any]]] = []
    for record in records:
        try:
            traces.append((read_trace(record), record))
        except RecordError:
            rejected.append(Rejection(str(record.get("id")), ILL_FORMED))
    fresh = judging([replace(trace, judgement=None).record() for trace, _ in traces])
    for (trace, record), verdict in zip(traces, fresh, strict=True):
        if trace.judgement is None or not trace.judged.is_certified:
            # Attack: a certificate that `recheck` skips, because nobody claims that it holds.
            rejected.append(Rejection(trace.id, "not_certified"))
        elif reason := objection(record["judgement"], verdict):
            # Attack: a good certificate beside a text that it does not belong to.
            rejected.append(Rejection(trace.id, reason))
        else:
            yield replace(with_judgement(trace, verdict), completion_ids=())


def _not_taught(
    examples: Iterable[Mapping[str, Any]], traces: Iterable[Trace], accepts: Accepted
) -> Iterator[Rejection]:
    """Yield the examples that no attempt with their certificate teaches, each with the reason."""
    traces_of: dict[str, list[Trace]] = defaultdict(list)
    for trace in traces:
        traces_of[str(trace.judged.digest)].append(trace)
    ids, texts = Counter[str](), Counter[tuple[str, ...]]()
    for example in examples:
        name, digest = str(example.get("id")), example.get("certificate")
        ids[name] += 1
        if not _is_shaped(example):
            yield Rejection(name, ILL_FORMED)
        elif ids[name] > 1:
            yield Rejection(name, "id_twice")
        elif digest is None:
            if accepts != "unfiltered":
                yield Rejection(name, "no_certificate")
        elif digest not in traces_of:
            yield Rejection(name, "certificate_missing")
        elif (found := next((t for t in traces_of[digest] if _teaches(t, example, accepts)), None)) is None:
            # Attack: exchange what is read or learnt under the digest of a proof of something else.
            yield Rejection(name, "other_text")
        elif "prompt" in example:
            # Attack: one proof many times, so that little else is learnt.
            content = (found.problem.context, found.problem.question, found.completion)
            texts[content] += 1
            if texts[content] > 1:
                yield Rejection(name, "text_twice")


def _is_shaped(example: Mapping[str, Any]) -> bool:
    """Say whether an example has one text, and no key that is none of ours.

    Attack: honest `messages` beside a `prompt` and a `completion` that lie, or a column that some trainer reads.
    """
    keys = example.keys() - _ORIGINS
    named = (example.get("id"), example.get("certificate", 0), *(example.get(key) for key in _ORIGINS))
    if not all(each is None or isinstance(each, str) for each in named) or example.get("id") is None:
        return False
    if _TEXT <= keys <= _OF_TEXTS:
        return all(isinstance(example[key], str) for key in ("prompt", "completion"))
    return not keys ^ _DIALOG and all(
        is_object(turn) and turn.keys() == {"role", "content"} and all(isinstance(said, str) for said in turn.values())
        for turn in _listed(example["messages"])
    )


def _listed(value: object) -> Sequence[object]:
    return value if is_list(value) and value else (None,)


def _teaches(trace: Trace, example: Mapping[str, Any], accepts: Accepted) -> bool:
    """Say whether an example is what a judged trace teaches, made again from the trace but for token ids."""
    if "messages" in example:
        return _teaches_dialog(trace, example, accepts)
    judged = trace.judged
    text = {"completion": trace.completion, "certificate": judged.digest}
    taught: dict[str, Any] = {"id": example["id"], "prompt": example["prompt"], **text}
    taught |= {"unread": [list(stretch) for stretch in judged.unread]} if judged.unread else {}
    shares = {key: judged.others.get(key) for key in ("step_validity", "premise_grounding")}
    taught |= {key: value for key, value in {"formalisation": judged.grade, **shares}.items() if key in example}
    own = {key: value for key, value in example.items() if key not in ("completion_ids", *_ORIGINS)}
    is_asked = accepts == "unfiltered" or is_derived_prompt(example["prompt"], trace)
    return own == taught and not trace.messages and is_asked


def _teaches_dialog(trace: Trace, example: Mapping[str, Any], accepts: Accepted) -> bool:
    """Say whether a lesson is the request for the trace's problem and the reply that was judged.

    Attack: instructions, earlier replies or words of the critic that nobody judged.
    """
    told: Messages = example["messages"]
    *asked, last = [dict(turn) for turn in told]
    masks = _listed(example["turns"])  # one for each reply, the last one learnt
    shaped = all(is_object(each) and each.keys() == {"completion_ids", "learnt"} for each in masks)
    if last != message("assistant", trace.completion) or not shaped:
        return False
    if len(masks) != sum(turn["role"] == "assistant" for turn in told) or masks[-1]["learnt"] is not True:  # type: ignore[index]
        return False
    if trace.format in languages():
        return asked == [dict(turn) for turn in opening(trace.problem, trace.format, 0)]
    if not trace.messages or len(asked) < 2 or asked[0] not in _instructions():
        return False
    if accepts == "unfiltered":  # turns that nobody judged, on the word of whoever pushed
        return all(turn in trace.messages for turn in asked[1:])
    return len(asked) == 2 and asks_for(trace, asked[1])


@cache
def _instructions() -> list[dict[str, str]]:
    """Return the system turns that a trained actor may be told."""
    asked = [
        DialogSettings(depth="compile", tests=tests, guidelines=guided, portion_size=size, instructions=told)
        for tests, guided, size, told in product((True, False), (True, False), (None, 1), (True, False))
    ]
    return [message("system", system_text(settings.trained())) for settings in asked]


def _other_lineage(folder: Path, examples: Sequence[Mapping[str, Any]], traces: Iterable[Trace]) -> Iterator[Rejection]:
    """Yield a rejection where the lineage is not that of the examples and of the attempts that were judged again."""
    known: dict[tuple[str, str | None], list[entries.Origin]] = defaultdict(list)
    for trace in traces:
        origin = entries.origin(trace.record())
        known[origin.trace, origin.certificate].append(origin)
    wrong = Rejection(entries.LINEAGE, f"is not the lineage of {EXAMPLES}")
    try:
        told = list(entries.read_entries(folder / entries.LINEAGE))
        pairs = zip(told, examples, strict=False)
        if len(told) != len(examples) or not all(_is_entry(*pair, known) for pair in pairs):
            yield wrong
    except (entries.LineageError, StoreError, KeyError, TypeError):
        yield wrong


def _is_entry(
    entry: entries.LineageEntry,
    example: Mapping[str, Any],
    known: Mapping[tuple[str, str | None], Sequence[entries.Origin]],
) -> bool:
    """Say whether an entry is an example's, and names its attempt; the sampled trace's digest is not compared."""
    told, name = entry.origin, example["id"]
    if (entry.example, entry.example_digest) != (name, entries.digest_of(example)):
        return False
    if told.certificate != example.get("certificate"):
        return False
    if told.certificate is None:
        return True
    same = any(replace(o, trace_digest=told.trace_digest) == told for o in known[told.trace, told.certificate])
    bare = name.removeprefix(f"{entries.round_of(name)}/")
    return same and entries.trace_of(bare, {told.trace}) is not None
