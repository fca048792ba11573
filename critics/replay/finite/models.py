"""Replay of programs over finite sorts, `program-options` and `csp-model`: models are evaluated.

Constraints and the queries of every option are evaluated in the models given. What an option's mode asks is worked out
here again: `valid` that its formula fails in no model of the constraints, `sat` that it holds in one, and so on. What
has no model is found by trying everything (`csp-model`), or confirmed by a second solver. That the core is what the
program says is for its critic to judge again (`critics.recheck.rejudging`).
"""

from dataclasses import dataclass
from typing import Any, Literal

from critics.replay.certificate import Rejected, SealedCertificate, is_list, of_kinds
from critics.replay.finite import terms as finite
from critics.replay.finite.grounding import Grounder, script
from critics.replay.finite.search import has_solution
from critics.replay.solvers import Budget, Trust, decide, weakest

KIND, CSP_KIND = "program-options", "csp-model"
BUDGET = Budget()


@of_kinds(KIND, CSP_KIND)
def check_options(sealed: SealedCertificate) -> Trust:
    """Accept by returning what it rests on; raises `Rejected`."""
    core, models = check_models(sealed)
    decide_ = _searched if sealed.kind == CSP_KIND else _decide
    trusts: list[Trust] = []
    for option, shown in zip(read_options(core), sealed.evidence["options"], strict=True):
        for query, rows in zip(option.queries, shown, strict=True):
            if rows is None:
                trusts.append(decide_(core, [*core.constraints, query.formula], wanted=False))
        for formula in option.formulas if sealed.reference == "none" else ():
            for side in (formula, _not(formula)):
                # Attack: an option that holds whatever the constraints are. A model that is here already will do.
                if not any(model.holds(side) for model in models):
                    trusts.append(decide_(core, [side], wanted=True))
    return weakest(*trusts)


def _searched(core: finite.Core, formulas: list[finite.Term], *, wanted: bool) -> Trust:
    """Try all values of the variables that formulas name."""
    named = {name: core.functions[name] for formula in formulas for name in finite.called(formula)}
    if has_solution(named, formulas) != wanted:
        raise Rejected("trivial_option" if wanted else "has_a_model")
    return Trust.CHECKED


def _decide(core: finite.Core, formulas: list[finite.Term], *, wanted: bool) -> Trust:
    grounder = Grounder(core.functions)
    ground = [grounder.ground(formula) for formula in formulas]
    found, trust = decide(script(grounder.unknowns(), ground), BUDGET)
    if found is None:
        raise Rejected("too_large")
    if found != wanted:
        raise Rejected("trivial_option" if wanted else "has_a_model")
    return trust


Mode = Literal["valid", "sat", "unsat", "not_valid", "accurate_list", "least", "greatest"]
"""Claim of an option about its formula."""


@dataclass(frozen=True, slots=True)
class Query:
    """A formula, and whether the option's claim needs it to have a model together with the constraints."""

    formula: finite.Term
    wanted: bool


@dataclass(frozen=True, slots=True)
class ClaimedOption:
    """An option of a program."""

    mode: Mode
    formulas: tuple[finite.Term, ...]

    @property
    def queries(self) -> list[Query]:
        """Queries that decide whether the option holds; raises `Rejected` for a mode that takes other formulas."""
        match self.mode, self.formulas:
            case "valid" | "not_valid", (formula,):
                return [Query(_not(formula), self.mode == "not_valid")]
            case "sat" | "unsat", (formula,):
                return [Query(formula, self.mode == "sat")]
            case "accurate_list", (_, *_):
                some = Query(_not(finite.Operator("or", self.formulas)), wanted=False)
                return [some, *(Query(formula, wanted=True) for formula in self.formulas)]
            case "least" | "greatest", (finite.Operator("eq", (term, bound)) as formula,):
                beyond = finite.Operator("lt" if self.mode == "least" else "gt", (term, bound))
                return [Query(formula, wanted=True), Query(beyond, wanted=False)]
            case _:
                raise Rejected("ill_formed")

    def record(self) -> dict[str, str | list[Any]]:
        """Return the JSON form."""
        return {"mode": self.mode, "formulas": [finite.term_record(formula) for formula in self.formulas]}


def read_options(core: finite.Core) -> list[ClaimedOption]:
    """Read the options of a program; raises `Rejected`, and what a wrong type raises."""
    if any(option.keys() != {"mode", "formulas"} for option in core.options):
        raise Rejected("ill_formed")
    return [
        ClaimedOption(
            option["mode"], tuple([finite.read_term(formula, core.functions) for formula in option["formulas"]])
        )
        for option in core.options
    ]


def _not(formula: finite.Term) -> finite.Term:
    return finite.Operator("not", (formula,))


@of_kinds(KIND, CSP_KIND)
def check_models(certificate: SealedCertificate) -> tuple[finite.Core, list[finite.Evaluation]]:
    """Check digest, form, claim and all models; return the program and the models. Raises `Rejected`."""
    problem, evidence = certificate.problem, certificate.evidence
    core = finite.read_core(evidence["core"])
    if not core.constraints:
        raise Rejected("no_constraints")
    if len({repr(option) for option in core.options}) < len(core.options):
        # Attack: make wrong options one another, or the right one twice.
        raise Rejected("repeated_option")
    shown = evidence["options"]
    if len(core.options) != len(shown) or len(problem.options or core.options) != len(core.options):
        raise Rejected("ill_formed")
    models = [_model(core, evidence["constraints"], None)]
    holding: list[int] = []
    for position, (option, rows) in enumerate(zip(read_options(core), shown, strict=True)):
        if not is_list(rows):
            raise Rejected("ill_formed")
        asked = list(zip(option.queries, rows, strict=True))
        models += [_model(core, row, query.formula) for query, row in asked if row is not None]
        if all((row is not None) == query.wanted for query, row in asked):
            holding.append(position)
    if [chr(ord("A") + position) for position in holding] != [certificate.claim]:
        raise Rejected("claim")
    if problem.answer not in (None, certificate.claim):
        raise Rejected("wrong_answer")
    return core, models


def _model(core: finite.Core, rows: Any, query: finite.Term | None) -> finite.Evaluation:
    """Return a model in which the constraints hold, and the query where there is one."""
    evaluation = finite.Evaluation(core.functions, finite.read_tables(rows, core.functions))
    if not all(map(evaluation.holds, [*core.constraints, *([] if query is None else [query])])):
        raise Rejected("not_a_model")
    return evaluation
