"""The commands that work on files, one function each: read, do, write, say what was done."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

from critics.errors import InputError
from critics.judge import JudgePool
from critics.problem import Problem, RecordError, read_attempt
from critics.recheck import recheck
from critics.reference import ReferenceMismatch, reference
from critics.verdict import VERDICTS
from rollout.demonstration import demonstrate
from rollout.problems.catalogue import family
from rollout.problems.prontoqa import Ontology
from rollout.problems.splits import Split
from rollout.prompt import PromptStyle, text
from rollout.published.loaders import load_published
from training.config import ArmConfig, ConfigError, RunConfig, load_run
from training.derivation import (
    DERIVED,
    Derivation,
    contents_of,
    derivation_counts,
    derive,
    is_derived,
    provenance,
)
from training.filters import KEEPS, funnel, select
from training.logs import quieten
from training.problems import load_problems
from training.store import read_records, write_json, write_records, write_text
from training.tables import table


def say(message: str) -> None:
    """Print a line for people on standard error, so that standard output stays machine-readable."""
    import sys

    sys.stderr.write(message + "\n")


def make_problems(
    name: str,
    out: Path,
    num: int,
    seed: int,
    hops: str | None,
    ontology: str | None,
    split: str,
    ordered: bool,
    source: Path | None,
    settings: list[str],
) -> None:
    """Write problem records, generated or converted."""
    if source is not None:
        made: Iterable[Problem] = load_published(source, name)
    else:
        (split_,) = _words(split, get_args(Split), "--split")
        keys = {**_prontoqa_keys(name, hops, ontology, ordered), **_settings(settings)}
        try:
            configuration = family(name).configured(keys, split_)  # type: ignore[arg-type]
        except ValueError as error:
            raise InputError(f"problems {name}: {error}") from error
        made = family(name).generate(configuration, num, seed=seed)
    records = [problem.record() for problem in made]
    write_records(out, records)
    say(f"{len(records)} problems in {out}")
    unformalised = sum(record["formal"] is None for record in records)
    if unformalised:
        say(f"{unformalised} of them have no formalisation: no proof of theirs can be certified")
    if source is not None and name == "deontiqa":
        _say_findings(source)


def _say_findings(source: Path) -> None:
    """Name the records of DeontiQA's files that are malformed, and count what was repaired."""
    from rollout.published.deontiqa import survey_deontiqa

    findings = survey_deontiqa(source).values()
    for finding in findings:
        if not finding.is_sound:
            left = "" if finding.is_problem else ", left out"
            say(f"{finding.id}: {', '.join(finding.defects)}{left}")
    say(f"{sum(bool(f.repairs) for f in findings)} records were repaired (meta.repairs says how)")


def _prontoqa_keys(name: str, hops: str | None, ontology: str | None, ordered: bool) -> dict[str, Any]:
    """Return what PrOntoQA's own options ask for; raises `InputError` where they are given for another data set."""
    keys: dict[str, Any] = {}
    if hops is not None:
        keys["hops"] = _hops(hops)
    if ontology is not None:
        keys["ontologies"] = _words(ontology, get_args(Ontology), "--ontology")
    if ordered:
        keys["ordering"] = "ordered"
    if keys and name != "prontoqa":
        raise InputError(f"problems {name}: --hops, --ontology and --ordered are PrOntoQA's; write --set KEY=VALUE")
    return keys


def _hops(value: str) -> tuple[int, ...]:
    if not all(part.strip().isdigit() for part in value.split(",")):
        raise InputError(f"--hops {value!r}: write numbers by commas, such as 1,2,3")
    return tuple(int(part) for part in value.split(","))


def _settings(settings: list[str]) -> dict[str, Any]:
    """Read `KEY=VALUE`, values as YAML has them."""
    import yaml

    keys: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"--set {setting}: write key=value, such as --set depths=[1,2]")
        try:
            keys[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise InputError(f"--set {setting}: the value is not YAML") from error
    return keys


def _words(value: str, known: tuple[str, ...], option: str) -> tuple[str, ...]:
    words = tuple(part.strip() for part in value.split(","))
    for word in words:
        if word not in known:
            raise InputError(f"{option} {word!r}: must be one of {', '.join(known)}")
    return words


def read_problems(path: Path) -> list[Problem]:
    """Read problem records or a published PrOntoQA file; at least one."""
    problems = list(load_problems(path))
    if not problems:
        raise InputError(f"{path}: there is no problem in it")
    return problems


def read_attempts(path: Path) -> list[dict[str, Any]]:
    """Read attempts or traces, each checked to be one; errors name the file and the line."""
    records: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for number, record in enumerate(read_records(path), 1):
        try:
            attempt = read_attempt(record)
        except RecordError as error:
            raise InputError(f"{path}: record {number}: {error}") from error
        if attempt.id in seen:
            raise InputError(f"{path}: record {number}: id {attempt.id!r} is record {seen[attempt.id]}'s already")
        seen[attempt.id] = number
        records.append(record)
    return records


def judge_file(path: Path, out: Path, jobs: int, timeout_s: float, as_json: bool) -> None:
    """Judge attempts into verdict records."""
    verdicts = list(_judged(read_attempts(path), jobs, timeout_s))
    write_records(out, verdicts)
    _print_counts(_tally(verdict["verdict"] for verdict in verdicts), as_json)


def _judged(records: list[dict[str, Any]], jobs: int, timeout_s: float) -> Iterator[dict[str, Any]]:
    from training.console import tracked

    with JudgePool(jobs=jobs, timeout_s=timeout_s) as pool:
        yield from tracked(pool.judge(records), total=len(records), what="judging")


def _tally(words: Iterable[str]) -> dict[str, int]:
    from collections import Counter

    return dict(sorted(Counter(words).items()))


def _print_counts(counts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(counts))
    else:
        say(", ".join(f"{name}: {value}" for name, value in counts.items()) or "nothing to do")


def recheck_file(path: Path, as_json: bool) -> int:
    """Re-check and print; return how many certificates were rejected."""
    result = recheck(read_records(path))
    if as_json:
        print(json.dumps(result))
    else:
        say(
            f"{result['accepted']} of {result['checked']} certificates hold; {result['skipped']} records skipped; "
            f"{result['second_opinion']} references translated a second time"
        )
        for rejection in result["rejected"]:
            say(f"rejected {rejection['id']}: {rejection['reason']}")
    return len(result["rejected"])


def filter_file(
    path: Path,
    verdicts: Path | None,
    keep: str,
    out: Path,
    jobs: int,
    timeout_s: float,
    as_json: bool,
    *,
    prune: bool = False,
    hindsight: bool = False,
    held_out: Path | None = None,
) -> None:
    """Write a dataset folder: examples.jsonl and summary.json, and derived.jsonl where traces are made of traces."""
    if keep not in KEEPS:
        raise InputError(f"--keep {keep!r}: must be one of {', '.join(KEEPS)}")
    derivation = _derivation(keep, prune, hindsight, held_out)
    traces = _with_verdicts(read_attempts(path), path, verdicts, jobs, timeout_s)
    candidates, failures = derive(traces, derivation, lambda drafts: _judged(list(drafts), jobs, timeout_s))
    kept = select(candidates, keep)  # type: ignore[arg-type]
    write_records(out / "examples.jsonl", [_example(trace) for trace in kept])
    if derivation.wanted:
        write_records(out / DERIVED, filter(is_derived, kept), checksum=True)
    made = derivation_counts(kept, failures, derivation)
    summary = {**funnel(traces, len(kept)), **made, "examples": len(kept), "keep": keep}
    write_json(out / "summary.json", summary)
    shown = {k: summary[k] for k in ("sampled", "right", "certified", "lucky", *made, "kept")}
    _print_counts(summary if as_json else shown, as_json)


def _derivation(keep: str, prune: bool, hindsight: bool, held_out: Path | None) -> Derivation:
    for option, wanted in (("--prune", prune), ("--hindsight", hindsight)):
        if wanted and keep != "strict":
            raise InputError(f"{option} needs --keep strict, because what it makes is judged by its proof")
    if held_out is not None and not hindsight:
        raise InputError("--held-out is for --hindsight, which alone asks new questions; leave it out")
    if hindsight and held_out is None:
        say("relabelled problems are not compared with evaluation problems; name these by --held-out FILE")
    return Derivation(prune, hindsight, None if held_out is None else contents_of(read_problems(held_out)))


def _with_verdicts(
    traces: list[dict[str, Any]], path: Path, verdicts: Path | None, jobs: int, timeout_s: float
) -> list[dict[str, Any]]:
    """Attach verdicts: from the file, else the trace's own, else judged now."""
    given = _read_verdicts(verdicts) if verdicts else {}
    for trace in traces:
        if trace["id"] in given:
            trace["judgement"] = given[trace["id"]]
        elif verdicts is not None:
            raise InputError(f"{verdicts}: there is no verdict for attempt {trace['id']!r} of {path}")
    unjudged = [trace for trace in traces if "judgement" not in trace]
    for trace, verdict in zip(unjudged, _judged(unjudged, jobs, timeout_s) if unjudged else (), strict=True):
        trace["judgement"] = verdict
    _refuse_false_certificates(traces)
    return traces


def _read_verdicts(path: Path) -> dict[str, dict[str, Any]]:
    given: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(read_records(path), 1):
        if not isinstance(record.get("id"), str) or record.get("verdict") not in VERDICTS:
            raise InputError(f"{path}: record {number}: a verdict needs an id and one of {', '.join(VERDICTS)}")
        given[record["id"]] = {"reason": "", "answer": None, "feedback": "", "certificate": None, **record}
    return given


def _refuse_false_certificates(traces: list[dict[str, Any]]) -> None:
    """A verdict from a file is believed only as far as its certificate holds and is about this very problem."""
    for trace in traces:
        rejected = recheck([trace])["rejected"]
        if rejected:
            raise InputError(
                f"attempt {trace['id']!r} is said to be certified and its certificate does not hold "
                f"({rejected[0]['reason']}); judge it again"
            )


def _example(trace: dict[str, Any]) -> dict[str, Any]:
    certificate = trace["judgement"].get("certificate")
    attempt = read_attempt(trace)
    return {
        "id": trace["id"],
        "prompt": trace.get("prompt") or text(attempt.problem, PromptStyle()),
        "completion": attempt.completion,
        "completion_ids": trace.get("completion_ids") or [],
        "certificate": None if certificate is None else certificate["digest"],
        **provenance(trace),
    }


def demonstrate_file(path: Path, out: Path) -> None:
    """Write a guided reference attempt for every problem that has a formalisation, and say how many have none."""
    problems = list(read_problems(path))
    attempts = [attempt for problem in problems if (attempt := _demonstration(problem, path)) is not None]
    if not attempts:
        raise InputError(f"{path}: no problem has a formalisation (key `formal`), or a text that can be translated")
    write_records(out, attempts)
    say(f"{len(attempts)} demonstrations in {out}; {len(problems) - len(attempts)} problems have no formalisation")


def _demonstration(problem: Problem, path: Path) -> dict[str, Any] | None:
    try:
        known = reference(problem)
    except ReferenceMismatch as error:
        if problem.formal is not None:
            raise InputError(f"{path}: problem {problem.id!r}: {error}") from error
        return None
    if known is None:
        return None
    try:
        completion = demonstrate(problem, known.formal)
    except ValueError as error:
        raise InputError(f"{path}: problem {problem.id!r}: {error}") from error
    return {
        "id": f"{problem.id}#demonstration",
        "problem": problem.record(),
        "format": "guided",
        "completion": completion,
    }


def guide_file(name: str, mode: str, source: Path | None, batch: Path, out: Path | None, text: Path | None) -> None:
    """Answer a batch of texts: where each stands, and what the guide allows there."""
    from training.guide_session import answer_batch

    if text is not None:
        raise InputError("--text is for typing; leave it out, or put the text into the --batch file")
    num = answer_batch(name, mode, source, batch, out)
    say(f"{num} answers{'' if out is None else f' in {out}'}")


def guide_typing(name: str, mode: str, source: Path | None, out: Path | None, text: Path | None) -> None:
    """Show what the guide allows after each line."""
    from training.guide_prompt import run_prompt

    if out is not None:
        raise InputError("--out needs --batch FILE; without it the answers are shown as you type")
    run_prompt(name, mode, source, text)


def roll_out(config_path: Path, problems: Path, out: Path, adapter: Path | None, overrides: list[str] | None) -> None:
    """Sample attempts; what an earlier, interrupted call finished is kept."""
    from rollout.worker import sample
    from training.console import tracked
    from training.store import OpenStore

    config = load_run(config_path, overrides)
    wanted = read_problems(problems)
    policy = _policy(config, config.arms[0], adapter)
    arm, size = config.arms[0], config.sampling.batch_size
    sampling = config.sampling.sampling(arm.decoding)
    store = OpenStore(out.with_name(f".{out.name}.open"))
    stored = {record["id"]: record for record in store.records}
    starts = range(0, len(wanted), size)
    for start in tracked(starts, total=len(starts), what=f"sampling, {size} problems at a time"):
        unit = wanted[start : start + size]
        ids = {p.id: [f"{p.id}#{n}" for n in range(sampling.samples_per_problem)] for p in unit}
        missing = [p for p in unit if not all(name in stored for name in ids[p.id])]
        if not missing:
            continue
        if config.model.server is None:
            missing = unit  # a unit is one batch
        fresh: list[dict[str, Any]] = []
        try:
            for trace in sample(policy, missing, sampling, seed=config.seeds[0], format_=arm.format):
                fresh.append(trace.record())
        finally:  # what a server wrote before it failed was paid for
            store.append(fresh)
        stored |= {record["id"]: record for record in fresh}
    order = {problem.id: position for position, problem in enumerate(wanted)}
    write_records(out, sorted(stored.values(), key=lambda r: (order[r["problem"]["id"]], r["sample"])), checksum=True)
    store.path.unlink()
    say(f"{len(stored)} attempts in {out}")


def _policy(config: RunConfig, arm: ArmConfig, adapter: Path | None) -> Any:
    from training.policy import build_policy

    quieten()
    style = config.model.style(arm.format)
    if config.model.server is None:
        import torch

        if not torch.cuda.is_available():
            torch.set_num_threads(1)
    return build_policy(config.model, adapter, style)


def train_files(config_path: Path, data: Path, out: Path, nproc: str, seed: int, overrides: list[str] | None) -> None:
    """Fine-tune on a dataset folder."""
    from rollout.policy import model_digest
    from training.finetuning import FineTuning, fine_tune
    from training.line import num_training_processes

    config = load_run(config_path, overrides)
    if nproc != "auto" and not (nproc.isdigit() and int(nproc) > 0):
        raise ConfigError(f"--nproc {nproc!r}: write a number from 1, or auto")
    quieten()
    job = FineTuning(
        model=config.model,
        training=config.training,
        data=data,
        out=out,
        seed=seed,
        base_digest=model_digest(config.model.name),
        nproc=num_training_processes() if nproc == "auto" else int(nproc),
        progress=True,
    )
    made = fine_tune(job)
    say(f"trained on {made['examples']} examples, {made['supervised_tokens']} supervised tokens; adapter in {out}")


def evaluate_file(
    config_path: Path,
    problems: Path,
    adapter: Path | None,
    seed: int,
    as_json: bool,
    overrides: list[str] | None,
    arm_names: list[str],
    table_path: Path | None = None,
) -> None:
    """Measure a policy on problems, decoded as the first arm or the named ones are, and print the results."""
    config = load_run(config_path, overrides)
    wanted = read_problems(problems)
    arms = [_arm(config, name) for name in arm_names] or config.arms[:1]
    modes: dict[str, dict[str, Any]] = {}
    with JudgePool() as pool:
        for arm in arms:
            modes[arm.name] = _measured(config, arm, adapter, wanted, pool, seed)
            if not as_json:
                _say_mode(f"{arm.name}: " if arm_names else "", modes[arm.name])
    if table_path is not None:
        write_text(table_path, table(wanted, modes))
    if as_json:
        print(json.dumps(modes if len(modes) > 1 else modes[arms[0].name]))


def _arm(config: RunConfig, name: str) -> ArmConfig:
    names = [arm.name for arm in config.arms]
    if name not in names:
        raise InputError(f"--arm {name!r}: the configuration has {', '.join(names)}")
    return config.arms[names.index(name)]


def _measured(
    config: RunConfig, arm: ArmConfig, adapter: Path | None, problems: list[Problem], pool: JudgePool, seed: int
) -> dict[str, Any]:
    from training.evaluation import measure

    return measure(
        _policy(config, arm, adapter),
        problems,
        config.sampling.sampling(arm.decoding, samples=1),
        pool.judge,
        seed=seed,
        format_=arm.format,
        batch_size=config.evaluation.batch_size,
    )


def _say_mode(label: str, mode: dict[str, Any]) -> None:
    """Print rates with their intervals, and content effects where problems are of several conditions."""
    from training.estimates import Proportion

    for name, key in (("accuracy", "right"), ("certified", "certified"), ("lucky", "lucky"), ("answered", "answered")):
        rate = Proportion(mode[key], mode["n"])
        low, high = rate.interval
        say(f"{label}{name}: {rate.rate:.1%} (95% {low:.1%} to {high:.1%}, {mode[key]} of {mode['n']})")
    say(
        f"{label}no answer {mode['no_answer']}, abstained {mode['abstained']}, formally wrong {mode['wrong_formal']}; "
        f"accuracy with a guess for no answer: {mode['accuracy_with_guess']:.1%}"
    )
    for condition, counts in mode["by_condition"].items() if len(mode["by_condition"]) > 1 else ():
        say(f"{label}accuracy, {condition}: {counts['right'] / counts['n']:.1%} ({counts['right']} of {counts['n']})")
