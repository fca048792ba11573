"""Catalogue files: YAML whose cases are edits of honest attempts, so that one sees what makes the cheat.

```yaml
format: rules
classes: {goal_assumed: what is asked is derived and never assumed}
problems: {rex: {dataset: prontoqa, context: .., question: .., answer: A}}
honest:
- {id: plain, at: [rex], completion: ".."}
cheats:
- {id: the goal, class: goal_assumed, at: [rex], from: plain, replace: [[old, new]], rule: goal_assumed}
forgeries:
- {id: another claim, class: forged_claim, at: [rex], from: plain, set: {claim: B}}
```

An attempt is a `completion` (text, or an object that is written as JSON) or one `from` another with edits: `replace`
(each old text must stand there), `prepend`, `append`, `set` (of an object: values by path) and `in` (which text of an
object is edited). A text may be `{text: "(", times: 9000}`. `each: {NAME: [values]}` makes a case of every value, put
where `<NAME>` stands. `rule` is a reason, a list of them, or an object with one for each problem; `answer`, of a
cheat, the one answer as which it may be certified; `slow`, that it runs into a budget of seconds on purpose.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from critics import registry
from critics.errors import InputError
from critics.formats.names import ENGLISH
from critics.problem import Attempt, Problem, is_list, is_object, read_problem
from critics.verdict import Verdict, verdict_record


@dataclass(frozen=True, slots=True)
class HonestCase:
    """An attempt that must be certified, so that a critic that rejects everything fails."""

    id: str
    attempt: Attempt
    answer: str
    """The answer as which it must be certified."""


@dataclass(frozen=True, slots=True)
class CheatCase:
    """An attempt that tries to be certified for nothing."""

    id: str
    cheat_class: str
    attempt: Attempt
    why: str
    rules: tuple[str, ...]
    """The reasons of a verdict by which the critics here stop it, any of them; another critic may find others."""
    answer: str | None = None
    """The one answer as which it may be certified, where the trick changes what is claimed; None: it never may be."""
    slow: bool = False
    """True if it runs into a budget of seconds on purpose."""


@dataclass(frozen=True, slots=True)
class ForgeryCase:
    """A certificate changed under a digest that fits: the trace is honest, what stands in its certificate is not."""

    id: str
    cheat_class: str
    honest: HonestCase
    why: str
    changes: Mapping[str, object]
    """New values by the path of their keys, `evidence/steps/0/statement`."""
    record_changes: Mapping[str, object] = field(default_factory=dict[str, object])
    """The same for the trace around the certificate."""


Case = HonestCase | CheatCase | ForgeryCase


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The cases of one format."""

    format: str
    classes: Mapping[str, str]
    """Each class of cheats, and the rule that stops it in a sentence."""
    honest: tuple[HonestCase, ...]
    cheats: tuple[CheatCase, ...]
    forgeries: tuple[ForgeryCase, ...]


def trace_record(attempt: Attempt, found: Verdict) -> dict[str, Any]:
    """Return the JSON form of an attempt with its verdict."""
    return {**attempt.record(), "judgement": verdict_record(attempt.id, found)}


_TOP_KEYS = {"format", "classes", "problems", "honest", "cheats", "forgeries"}
_FORGED_GRADE = "a certificate says on whose word its formulas are about the text"
_EDITS = {"completion", "from", "replace", "prepend", "append", "set", "in"}
_CASE_KEYS = {
    "honest": _EDITS | {"id", "at", "answer", "each"},
    "cheats": _EDITS | {"id", "at", "class", "why", "rule", "answer", "each", "slow"},
    "forgeries": {"id", "at", "class", "why", "from", "set", "record", "each"},
}


SEEDED = Path(__file__).with_name("seeded.jsonl")
"""Attacks that code wrote from seeds, of all formats (`tools.seeded_attacks`)."""


def own_catalogue(format_: str) -> Catalogue:
    """Return the catalogue of a format that is built in, with the attacks that code wrote."""
    catalogue = load_catalogue(registry.folder_of(format_) / "catalogue.yaml")
    return _with_seeded(catalogue, [json.loads(line) for line in SEEDED.read_text(encoding="utf-8").splitlines()])


def _with_seeded(catalogue: Catalogue, seeded: Sequence[Mapping[str, Any]]) -> Catalogue:
    """Return a catalogue with the attacks that code wrote from seeds (`tools.seeded_attacks`), and forged grades."""
    head, *records = seeded
    honest: list[HonestCase] = []
    cheats: list[CheatCase] = []
    for record in records:
        name = record.get("honest") or record["cheat"]
        if not name.startswith(f"{catalogue.format}/"):
            continue
        attempt = Attempt(name, read_problem(record["problem"]), catalogue.format, record["completion"])
        if "honest" in record:
            honest.append(HonestCase(name, attempt, record["answer"]))
        else:
            why = head["classes"][record["class"]]
            cheats.append(CheatCase(name, record["class"], attempt, why, (), record["answer"]))
    # Anybody's English is read, and checked.
    trusting = () if catalogue.format == ENGLISH else catalogue.honest
    forged = [
        ForgeryCase(f"{case.id} as {grade}", "forged_grade", case, _FORGED_GRADE, {"formalisation": grade})
        for case in trusting
        if case.attempt.problem.dataset == "someone's" and case.attempt.problem.formal is None
        for grade in ("checked", "given")
    ]
    used = {case.cheat_class: case.why for case in cheats} | ({"forged_grade": _FORGED_GRADE} if forged else {})
    return replace(
        catalogue,
        classes={**catalogue.classes, **used},
        honest=(*catalogue.honest, *honest),
        cheats=(*catalogue.cheats, *cheats),
        forgeries=(*catalogue.forgeries, *forged),
    )


def load_catalogue(path: Path) -> Catalogue:
    """Read a catalogue file; raises `InputError` naming the file and the case."""
    import yaml

    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return _CatalogueReader(data).catalogue()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not YAML: {error}") from error
    except (InputError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        said = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{path}: {said}") from error


@dataclass(frozen=True, slots=True)
class _Given:
    """One case as the file gives it, and the problems that it is tried at."""

    id: str
    keys: Mapping[str, Any]
    at: tuple[Problem, ...]
    cheat_class: str


class _CatalogueReader:
    """One file being read: its problems and its honest attempts by name."""

    def __init__(self, data: object) -> None:
        if not is_object(data) or not data.keys() <= _TOP_KEYS or "format" not in data:
            raise InputError(f"a catalogue has the keys {', '.join(sorted(_TOP_KEYS))}, format above all")
        self._format = str(data["format"])
        self._data = data
        self._classes: dict[str, str] = data.get("classes") or {}
        problems: dict[str, dict[str, object]] = data.get("problems") or {}
        self._problems = {
            key: read_problem({"id": key, "context": "", "question": "", **value}) for key, value in problems.items()
        }
        self._completions: dict[str, object] = {}

    def catalogue(self) -> Catalogue:
        honest = tuple(self._honest())
        by_id = {case.id: case for case in honest}
        return Catalogue(self._format, self._classes, honest, tuple(self._cheats()), tuple(self._forgeries(by_id)))

    def _honest(self) -> Iterator[HonestCase]:
        for case in self._cases("honest"):
            completion = self._completions[case.id] = self._completion(case)
            for problem in case.at:
                answer = _of(case.keys.get("answer", problem.answer), problem)
                if answer is None:
                    raise InputError(f"honest {case.id!r}: an answer is needed, here or in the problem {problem.id!r}")
                yield HonestCase(*self._attempt("honest", case.id, problem, completion), answer)

    def _cheats(self) -> Iterator[CheatCase]:
        for case in self._cases("cheats"):
            completion, keys = self._completion(case), case.keys
            for problem in case.at:
                rule: Any = _of(keys.get("rule"), problem)
                rules = tuple(map(str, rule)) if is_list(rule) else () if rule is None else (str(rule),)
                name, attempt = self._attempt("cheat", case.id, problem, completion)
                answer, slow = _of(keys.get("answer"), problem), bool(keys.get("slow"))
                yield CheatCase(name, case.cheat_class, attempt, keys.get("why", ""), rules, answer, slow)

    def _forgeries(self, honest: Mapping[str, HonestCase]) -> Iterator[ForgeryCase]:
        for case in self._cases("forgeries"):
            for problem in case.at:
                origin = case.keys["from"]
                source = honest.get(f"{self._format}/honest/{origin}@{problem.id}")
                if source is None:
                    raise InputError(f"forgery {case.id!r}: no honest attempt {origin!r} at {problem.id!r}")
                name = f"{self._format}/forgery/{case.id}@{problem.id}"
                changes, around = case.keys.get("set", {}), case.keys.get("record", {})
                yield ForgeryCase(name, case.cheat_class, source, case.keys.get("why", ""), changes, around)

    def _cases(self, section: str) -> Iterator[_Given]:
        seen: set[str] = set()
        for given in self._data.get(section) or ():
            if not is_object(given) or "id" not in given or not given.keys() <= _CASE_KEYS[section]:
                raise InputError(f"{section}: {given!r}: keys are {', '.join(sorted(_CASE_KEYS[section]))}")
            for case in _each(given):
                case_id = str(case["id"])
                if case_id in seen:
                    raise InputError(f"{section}: {case_id!r} stands twice")
                seen.add(case_id)
                at: list[str] = case.get("at") or list(self._problems)
                missing = [name for name in at if name not in self._problems]
                if missing:
                    raise InputError(f"{section}: {case_id!r}: there is no problem {missing[0]!r}")
                named = "honest" if section == "honest" else str(case.get("class"))
                if section != "honest" and named not in self._classes:
                    raise InputError(f"{case_id!r}: class {named!r} is not among the classes")
                yield _Given(case_id, case, tuple(self._problems[name] for name in at), named)

    def _attempt(self, kind: str, case_id: str, problem: Problem, completion: object) -> tuple[str, Attempt]:
        name = f"{self._format}/{kind}/{case_id}@{problem.id}"
        text = completion if isinstance(completion, str) else json.dumps(completion, ensure_ascii=False)
        return name, Attempt(name, problem, self._format, text)

    def _completion(self, case: _Given) -> Any:
        """Return the text or the object that a case writes."""
        keys = case.keys
        if "completion" in keys:
            made = _text(keys["completion"])
        elif "from" in keys:
            made = json.loads(json.dumps(self._completions[keys["from"]]))
        else:
            raise InputError(f"{case.id!r}: `completion` or `from` is needed")
        if isinstance(made, str):
            return _edited(made, case)
        changes: Mapping[str, object] = keys.get("set") or {}
        for path, value in changes.items():
            put(made, path, value)
        place = keys.get("in") or next(iter(made))
        if not keys.keys().isdisjoint(("replace", "prepend", "append")):
            made[place] = _edited(made[place], case)
        return made


def _edited(text: str, case: _Given) -> str:
    for old, new in case.keys.get("replace") or ():
        if old not in text:
            raise InputError(f"{case.id!r}: {old!r} does not stand in the attempt")
        text = text.replace(old, _text(new))
    return _text(case.keys.get("prepend", "")) + text + _text(case.keys.get("append", ""))


def _text(value: Any) -> Any:
    """Return a text, written out where it is given as repeated."""
    if is_object(value) and value.keys() == {"text", "times"}:
        return str(value["text"]) * int(value["times"])
    return value


def _of(value: Any, problem: Problem) -> Any:
    """Return what is said for one problem, where it is said by problem."""
    return value.get(problem.id) if is_object(value) else value


def _each(case: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the case once, or once for every value of its `each`, numbered from 1."""
    spread = case.get("each")
    if spread is None:
        yield case
        return
    ((name, values),) = spread.items()
    for number, value in enumerate(values, 1):
        filled = {key: _filled(part, f"<{name}>", value) for key, part in case.items() if key != "each"}
        yield {**filled, "id": f"{filled['id']} {number}"}


def _filled(part: Any, mark: str, value: Any) -> Any:
    """Put a value where the mark stands; a text that is the mark alone becomes the value, whatever it is."""
    if isinstance(part, str):
        return value if part == mark else part.replace(mark, str(value))
    if is_list(part):
        return [_filled(item, mark, value) for item in part]
    if is_object(part):
        return {key: _filled(item, mark, value) for key, item in part.items()}
    return part


def put(target: Any, path: str, value: Any) -> None:
    """Set what stands at a path of keys and places, `Tests/0/facts`."""
    *folders, last = path.split("/")
    for key in folders:
        target = target[int(key) if is_list(target) else key]
    target[int(last) if is_list(target) else last] = value
