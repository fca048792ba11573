"""A run folder in, a report out: synthetic runs whose every number is known."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
import yaml
from rich.console import Console
from typer.testing import CliRunner

from training.cli import app
from training.outcomes import PairedComparison
from training.records.store import line_of
from training.reporting import report
from training.reporting.comparison import compare_runs, summarise, write_report
from training.reporting.runs import outcomes_of, read_arms
from training.reporting.sentences import facts, table, verdict_sentence

N = 20
KEEPS = (("strict", "strict"), ("naive", "naive"))
ATTACK = "</pre><script>alert('x')</script><img src=x onerror=alert(1)> [[axiom:</mark><script>y()</script>]]"


def save(path: Path, record: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))


def mode(right: list[int], certified: list[int], decoding: str = "guided", prefix: str = "p") -> dict:
    hops = [1 + i % 2 for i in range(len(right))]

    def cell(picked: list[int]) -> dict:
        r, c = sum(right[i] for i in picked), sum(certified[i] for i in picked)
        return {"n": len(picked), "right": r, "certified": c, "lucky": r - c}

    return {
        "decoding": decoding,
        "temperature": 1.0,
        "seed": 0,
        **cell(list(range(len(right)))),
        "by_hops": {str(h): cell([i for i, x in enumerate(hops) if x == h]) for h in sorted(set(hops))},
        "outcomes": {
            "ids": [f"{prefix}{i}" for i in range(len(right))],
            "right": right,
            "certified": certified,
            "hops": hops,
        },
    }


def evaluation(num_right: int, num_certified: int, *, n: int = N, decoding: str = "guided", **modes: dict) -> dict:
    """The first answers are right, the first of those certified: so outcomes of two models are nested."""
    right = [int(i < num_right) for i in range(n)]
    certified = [int(i < num_certified) for i in range(n)]
    return {
        "problems": {"n": n, "split": "test", "digest": "d1"},
        "policy": {"base": "seed", "adapter": None},
        "modes": {"sampled": mode(right, certified, decoding), **modes},
    }


def problem(number: int, context: str) -> dict:
    return {
        "id": f"q{number}",
        "dataset": "prontoqa",
        "context": context,
        "question": "True or false: Rex is a wumpus.",
        "options": None,
        "answer": "true",
        "formal": None,
        "meta": {"hops": 1},
    }


def trace(number: int, verdict: str, completion: str = "[[axiom:(impus rex)]] so. Answer: true") -> dict:
    context = "Rex is an impus. Every impus is a wumpus."
    steps = [
        {"statement": "(impus rex)", "by": "axiom"},
        {"statement": "(impus 'x) -> (wumpus 'x)", "by": "axiom"},
        {"statement": "(wumpus rex)", "by": "rule", "rule": 1, "premises": [0]},
    ]
    certificate = {
        "kind": "horn-proof",
        "problem": {**problem(number, context), "formal": None},
        "claim": "true",
        "evidence": {"goal": "(wumpus rex)", "steps": steps},
        "formalisation": "checked",
        "engine": "certistar-horn/1",
        "limits": {},
        "repairs": [],
        "digest": "abc",
    }
    return {
        "id": f"q{number}-0",
        "problem": problem(number, context),
        "format": "guided",
        "completion": completion,
        "judgement": {
            "id": f"q{number}-0",
            "verdict": verdict,
            "reason": "proved" if verdict == "certified" else "goal_not_reached",
            "answer": "true",
            "feedback": None,
            "certificate": certificate if verdict == "certified" else None,
        },
    }


def make_run(run: Path, arms: dict[str, list[tuple[int, int]]], *, seeds: int = 2, **options: str) -> Path:
    """Write a finished run; `arms` maps a name to (right, certified) of N for each round, 0 the start."""
    lines, num_rounds = [], len(next(iter(arms.values()))) - 1
    for name, rounds in arms.items():
        for seed in range(seeds):
            line, base = f"{name}/seed-{seed}", f"base/{name}/seed-{seed}"
            lines.append({"arm": name, "seed": seed, "path": line, "base": base})
            folders = [run / base, *(run / line / f"round-{r:03d}" for r in range(num_rounds))]
            for folder, (right, certified) in zip(folders, rounds, strict=True):
                save(folder / "evaluation.json", evaluation(right, certified))
            for folder in folders[1:]:
                counts = {"sampled": 40, "right": 20, "certified": 10, "lucky": 10, "kept": 9}
                save(folder / "dataset" / "summary.json", counts)
                kind = "certified" if name == "strict" else "unproved"
                traces = [trace(i, kind, options.get("completion", "[[goal:x]] Answer: true")) for i in range(5)]
                (folder / "traces.jsonl").write_text("".join(line_of(t) for t in reversed(traces)))
    provenance = {
        "commit": "c0ffee",
        "base_provenance": {"pretraining": {"sequences": 58_000}, "sees": "proofs"},
    }
    save(run / "lines.json", {"lines": lines, "num_rounds": num_rounds, "provenance": provenance})
    (run / "config.yaml").write_text(yaml.safe_dump({"name": "synthetic"}))
    return run


THREE = {
    "strict": [(8, 4), (12, 10), (16, 14)],
    "guided": [(8, 4), (9, 5), (9, 5)],
    "naive": [(8, 2), (8, 1), (7, 1)],
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run", THREE)


def rewrite(path: Path, change) -> None:
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


# -- the summary


def test_summary_has_the_shape_of_the_design(run):
    summary = summarise(run)
    assert list(summary) == ["arms", "square", "primary", "bases", "comparisons", "provenance"]
    strict = summary["arms"]["strict"]
    assert (strict["decoding"], strict["seeds"]) == ("guided", [0, 1])
    assert [r["round"] for r in strict["rounds"]] == [0, 1, 2]
    assert {"n", "accuracy", "certified", "lucky", "kept", "accuracy_interval", "by_hops"} <= set(strict["rounds"][0])
    assert set(summary["comparisons"][0]) >= {"a", "b", "metric", "difference", "interval", "p", "n"}
    assert summary["provenance"]["name"] == "synthetic"
    assert summary["provenance"]["evaluation"] == {"n": N, "split": "test", "digest": "d1", "seeds": [0, 1]}


def test_rates_are_fractions_pooled_over_seeds(run):
    last = summarise(run)["arms"]["strict"]["rounds"][2]
    assert last["n"] == 2 * N
    assert (last["accuracy"], last["certified"]) == (32 / 40, 28 / 40)
    assert last["lucky"] == pytest.approx(4 / 40)
    assert last["by_hops"]["1"]["n"] == last["by_hops"]["2"]["n"] == N
    assert list(last["by_hops"]) == ["1", "2"]
    assert last["accuracy_greedy"] is last["certified_guided"] is None


def test_seeds_are_kept_apart_as_well(run):
    rewrite(run / "strict/seed-1/round-001/evaluation.json", lambda r: r.update(evaluation(10, 10)))
    strict = summarise(run)["arms"]["strict"]
    assert strict["per_seed"]["accuracy"] == {"0": [0.4, 0.6, 0.8], "1": [0.4, 0.6, 0.5]}
    assert strict["rounds"][2]["accuracy"] == 26 / 40


def test_funnel_belongs_to_the_round_that_it_made(run):
    counts = {"sampled": 40, "right": 30, "certified": 25, "lucky": 5, "kept": 24}
    save(run / "strict/seed-0/round-001/dataset/summary.json", counts)
    rounds = summarise(run)["arms"]["strict"]["rounds"]
    assert (rounds[0]["funnel"], rounds[0]["kept"]) == (None, 0)
    assert rounds[1]["funnel"] == {"sampled": 80, "right": 40, "certified": 20, "kept": 18}
    assert rounds[2]["funnel"] == {"sampled": 80, "right": 50, "certified": 35, "kept": 33}
    assert rounds[2]["kept"] == 33


def test_strict_is_compared_with_every_other_arm(run):
    comparisons = summarise(run)["comparisons"]
    assert {c["a"] for c in comparisons} == {"strict"}
    assert [(c["metric"], c["b"]) for c in comparisons] == [
        (metric, b) for metric in ("accuracy", "gain", "certified") for b in ("guided", "naive")
    ]
    found = {(c["metric"], c["b"]): c for c in comparisons}
    # 16 against 9 right of 20 under each of two seeds, nested: 14 discordant pairs, all one way.
    accuracy = found["accuracy", "guided"]
    assert accuracy["difference"] == pytest.approx(14 / 40)
    assert accuracy["p"] == pytest.approx(2 / 2**14)
    assert accuracy["per_seed"] == pytest.approx([0.35, 0.35])
    # Gains +8 and -1 of 20: 18 pairs differ (16 learnt by strict, 2 unlearnt by naive), all one way.
    gain = found["gain", "naive"]
    assert (gain["difference"], gain["n"]) == (pytest.approx(18 / 40), 40)
    assert gain["p"] == pytest.approx(2 / 2**18)
    assert (accuracy["test"], gain["test"]) == ("mcnemar", "sign-flip")


def test_first_arm_leads_where_none_is_strict(tmp_path):
    summary = summarise(make_run(tmp_path, {"guided": [(8, 2), (9, 3)], "naive": [(8, 2), (8, 2)]}))
    assert {(c["a"], c["b"]) for c in summary["comparisons"]} == {("guided", "naive")}


def test_other_modes_have_columns_of_their_own(run):
    for seed in (0, 1):
        extra = {"greedy": mode([1] * N, [0] * N), "guided": mode([1] * N, [1] * N)}
        rewrite(run / f"naive/seed-{seed}/round-001/evaluation.json", lambda r, e=extra: r["modes"].update(e))
    last = summarise(run)["arms"]["naive"]["rounds"][-1]
    assert (last["accuracy_greedy"], last["certified_greedy"]) == (1.0, 0.0)
    assert (last["accuracy_guided"], last["certified_guided"]) == (1.0, 1.0)
    assert last["accuracy"] == 7 / 20


def test_order_of_the_answers_in_a_file_does_not_matter(run):
    before = summarise(run)

    def reverse(record):
        outcomes = record["modes"]["sampled"]["outcomes"]
        outcomes.update({key: values[::-1] for key, values in outcomes.items()})

    rewrite(run / "naive/seed-0/round-001/evaluation.json", reverse)
    assert summarise(run) == before


# -- what is refused


@pytest.mark.parametrize(
    "missing",
    [
        "lines.json",
        "base/naive/seed-1/evaluation.json",
        "strict/seed-0/round-001/evaluation.json",
        "guided/seed-1/round-000/dataset/summary.json",
    ],
)
def test_unfinished_run_names_the_file_and_the_remedy(run, missing):
    (run / missing).unlink()
    with pytest.raises(ValueError, match=rf"{re.escape(missing)} is missing.*`certistar run` again"):
        summarise(run)


def test_a_partial_report_keeps_to_the_seeds_that_every_arm_has_finished(run):
    (run / "naive/seed-1/round-001/evaluation.json").unlink()
    summary = write_report(run, partial=True)
    assert {tuple(arm["seeds"]) for arm in summary["arms"].values()} == {(0,)}
    assert summary["provenance"]["unfinished_seeds"] == [1]
    (run / "naive/seed-0/round-001/evaluation.json").unlink()
    with pytest.raises(ValueError, match="no seed is finished"):
        write_report(run, partial=True)


@pytest.mark.parametrize("change", ["ids", "digest"])
def test_answers_to_other_problems_are_never_compared(run, change):
    def alter(record):
        if change == "ids":
            record["modes"]["sampled"]["outcomes"]["ids"][3] = "elsewhere"
        else:
            record["problems"]["digest"] = "d2"

    rewrite(run / "naive/seed-1/round-001/evaluation.json", alter)
    with pytest.raises(ValueError, match=r"base/strict/seed-1/.*naive/seed-1/round-001/.*not of the same problems"):
        summarise(run)


def test_arms_with_other_seeds_are_never_compared(run):
    rewrite(run / "lines.json", lambda r: r["lines"].pop())
    with pytest.raises(ValueError, match=r"strict has the seeds \[0, 1\] and arm naive \[0\]"):
        summarise(run)


def test_counts_that_outcomes_do_not_bear_out_are_refused(run):
    rewrite(run / "strict/seed-0/round-000/evaluation.json", lambda r: r["modes"]["sampled"].update(right=13))
    with pytest.raises(ValueError, match=r"strict/seed-0/round-000/evaluation.json: its counts"):
        summarise(run)


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.pop("modes"),
        lambda r: r["modes"].pop("sampled"),
        lambda r: r["modes"]["sampled"].update(decoding="beam"),
        lambda r: r["modes"]["sampled"]["outcomes"]["right"].pop(),
    ],
)
def test_ill_formed_evaluation_is_named(run, change):
    rewrite(run / "strict/seed-0/round-000/evaluation.json", change)
    with pytest.raises(ValueError, match=r"strict/seed-0/round-000/evaluation.json: not an evaluation"):
        summarise(run)


def test_gain_across_two_decodings_is_refused(run):
    rewrite(run / "base/naive/seed-0/evaluation.json", lambda r: r.update(evaluation(8, 2, decoding="free")))
    with pytest.raises(ValueError, match="arm naive is decoded differently"):
        summarise(run)


# -- several runs


def test_arms_of_several_runs_are_named_after_their_runs(tmp_path):
    one = make_run(tmp_path / "one", {"naive": [(8, 2), (8, 2)]})
    two = make_run(tmp_path / "two", {"strict": [(8, 2), (15, 15)]})
    summary = compare_runs([one, two])
    assert list(summary["arms"]) == ["one:naive", "two:strict"]
    gain = next(c for c in summary["comparisons"] if c["metric"] == "gain")
    assert (gain["a"], gain["b"], gain["difference"]) == ("two:strict", "one:naive", pytest.approx(0.35))
    assert summary["provenance"]["runs"]["one"]["commit"] == "c0ffee"


def test_runs_of_one_name_are_told_apart_by_their_folders(tmp_path):
    runs = [make_run(tmp_path / name / "run", {"strict": [(8, 2), (9, 2)]}) for name in ("a", "b")]
    assert list(compare_runs(runs)["arms"]) == [f"{run}:strict" for run in runs]


def test_runs_of_other_seeds_are_not_compared_and_other_settings_are_named(tmp_path, run):
    other = make_run(tmp_path / "other", {"naive": [(8, 2), (8, 2)]}, seeds=1)
    with pytest.raises(ValueError, match="the same seeds"):
        compare_runs([run, other])
    other = make_run(tmp_path / "more", {"naive": [(8, 2), (8, 2), (8, 2)]})
    (other / "config.yaml").write_text(yaml.safe_dump({"name": "other", "training": {"epochs": 9}}))
    (run / "config.yaml").write_text(yaml.safe_dump({"name": "run", "training": {"epochs": 3}, "newer": 1}))
    said = " ".join(verdict_sentence(compare_runs([run, other])))
    assert "differ in training.epochs (3, 9): a difference" in said


def test_every_p_is_corrected_for_all_comparisons_of_the_table(run):
    comparisons = summarise(run)["comparisons"]
    smallest = min(comparisons, key=lambda c: c["p"])
    assert smallest["p_holm"] == pytest.approx(6 * smallest["p"])
    assert all(c["p"] <= c["p_holm"] <= 1 for c in comparisons)


def test_compare_writes_a_page_or_numbers_and_tells_wrong_input(tmp_path, run):
    command = CliRunner().invoke
    done = command(app, ["compare", str(run), "--out", str(tmp_path / "c.html")])
    assert done.exit_code == 0, done.output
    assert "Does strict gain more than naive?" in " ".join(done.output.split())
    assert "Comparisons" in Page((tmp_path / "c.html").read_text()).text
    done = command(app, ["compare", str(run), "--json", "--out", str(tmp_path / "c.json")])
    assert json.loads(done.stdout) == json.loads((tmp_path / "c.json").read_text())
    assert command(app, ["compare", str(tmp_path / "nothing")]).exit_code == 2


def test_rates_of_a_report_are_group_bys_of_the_outcomes_table(run, tmp_path):
    table = outcomes_of(read_arms(run))
    assert len(table) == 3 * 2 * 3 * N
    report = summarise(run)
    for (arm, number), own in table.groupby(["arm", "round"]):
        told = report["arms"][arm]["rounds"][number]
        assert [told["n"], told["accuracy"], told["certified"]] == [
            len(own),
            own["right"].mean(),
            own["certified"].mean(),
        ]
        for hops, cell in own.groupby("hops"):
            assert told["by_hops"][str(hops)]["accuracy"] == cell["right"].mean()
    done = CliRunner().invoke(app, ["compare", str(run), "--out", str(tmp_path / "c.csv")])
    assert done.exit_code == 0, done.output
    head, *rows = (tmp_path / "c.csv").read_text().splitlines()
    assert head == "arm,seed,round,mode,decoding,temperature,problem,right,certified,hops,run"
    assert len(rows) == len(table)


def test_one_run_compared_is_its_own_summary(run):
    assert compare_runs([run]) == summarise(run)


# -- the sentences


def test_sentences_say_that_strict_leads(run):
    said = " ".join(verdict_sentence(summarise(run)))
    assert said.startswith("Yes, certification pays here: in accuracy and in proofs. Over guided, its closest rival, ")
    assert "strict leads by +35.0 points of accuracy gained (95% +20.0 to +50.0) and +45.0 of certified answers" in said
    assert "strict gained +40.0 points (95% +25.0 to +55.0) over its own start; guided +5.0 (" in said
    assert "naive -5.0" in said
    assert "strict gain more than naive? Yes: +45.0 points" in said
    assert said.count("more in the end? Yes") == 2


@pytest.mark.parametrize(
    ("strict", "naive", "answer", "finding"),
    [
        ((8, 20), (8, 12), "Yes, certification pays here: in accuracy.", "? Yes: +40.0 points"),
        ((8, 9), (8, 8), "Not known", "Not told apart: +5.0 points"),
        ((8, 8), (8, 8), "Not known", "Not told apart: +0.0 points"),
        ((8, 8), (8, 20), "No, certification does not pay here", "No, it gained less: -60.0 points"),
    ],
)
def test_sentences_are_as_honest_when_strict_does_not_lead(tmp_path, strict, naive, answer, finding):
    arms = {name: [(start, 0), (end, 0)] for name, (start, end) in {"strict": strict, "naive": naive}.items()}
    lead = verdict_sentence(summarise(make_run(tmp_path, arms, seeds=1)))
    assert lead[0].startswith(answer)
    assert any(finding in sentence for sentence in lead)
    assert any(sentence.startswith("One seed only") for sentence in lead)


def told(found: PairedComparison, p_holm: float, *metrics: str) -> dict:
    """A report of a strict and a naive arm that differ as they are found to, by some metrics."""
    start = {"accuracy": 0.1, "certified": 0.1, "lucky": 0.1, "kept": 5, "grades": {}}
    arm = {"decoding": "free", "seeds": [0, 1], "rounds": [start, start], "gain": 0.1, "gain_interval": [0.0, 0.2]}
    named = {"a": "strict", "b": "naive", **found.record(), "p_holm": p_holm, "paired": True, "primary": False}
    compared = [{**named, "metric": metric} for metric in metrics]
    return {"arms": {name: {**arm, "keep": keep} for name, keep in KEEPS}, "comparisons": compared, "provenance": {}}


def test_a_lead_that_other_seeds_would_not_show_is_no_yes():
    found = PairedComparison(0.05, (0.01, 0.09), 0.03, 900, None, (0.0, 0.1), "sign-flip", (-0.003, 0.102))
    assert verdict_sentence(told(found, 0.03, "gain", "certified"))[0].startswith("Not known")


def test_nothing_is_claimed_where_nothing_was_kept(tmp_path):
    run = make_run(tmp_path, {"strict": [(8, 0), (18, 9)], "naive": [(8, 0), (9, 0)]})
    for path in run.glob("strict/*/round-*/dataset/summary.json"):
        rewrite(path, lambda r: r.update(kept=0))
    assert verdict_sentence(summarise(run))[0] == "Not known: strict kept no trace, so its last model is its first."


def test_the_first_screen_answers_what_a_sceptic_asks_first(run):
    taught = {"sequences": 86400, "demonstrations_that_guess": 0.7, "demonstrations_misformalised": 0.02}
    rewrite(run / "lines.json", lambda r: r["provenance"].update(base="seed", base_provenance=taught))
    (run / "config.yaml").write_text("evaluation: {primary: gain}\n")
    told = dict(facts(summarise(run)))
    assert told["Base"].startswith("seed: 86,400 demonstrations made here; of the last ones 70.0% stop early and guess")
    assert told["Base models"].startswith("one")
    assert "n counts answers, not models" in told["Answers"]
    assert told["Primary metric"] == "gain"
    write_report(run)
    assert "70.0% stop early and guess" in Page((run / "report.html").read_text()).text


def test_proofs_without_accuracy_and_a_lead_over_some_rivals_are_called_what_they_are(tmp_path):
    proofs = {"strict": [(8, 0), (9, 9)], "naive": [(8, 0), (9, 0)]}
    assert verdict_sentence(summarise(make_run(tmp_path / "a", proofs)))[0].startswith("In proofs, not in accuracy")
    few = {"strict": [(8, 0), (9, 9)], "naive": [(8, 0), (9, 0)], "label": [(8, 0), (9, 8)]}
    assert verdict_sentence(summarise(make_run(tmp_path / "c", few)))[0].startswith("In proofs over naive alone")
    some = {"strict": [(8, 0), (16, 9)], "naive": [(8, 0), (9, 0)], "label": [(8, 0), (16, 0)]}
    said = verdict_sentence(summarise(make_run(tmp_path / "b", some)))[0]
    assert said.startswith("In part: certification pays here over naive, and the gain in accuracy is not told apart")


def test_arms_that_all_ask_for_certificates_do_not_say_whether_certification_pays(tmp_path):
    run = make_run(tmp_path, {"strict": [(8, 0), (16, 9)], "strict-pruned": [(8, 0), (9, 0)]})
    arms = [{"name": name, "keep": "strict"} for name in ("strict", "strict-pruned")]
    (run / "config.yaml").write_text(yaml.safe_dump({"name": "both", "arms": arms}))
    assert verdict_sentence(summarise(run))[0].startswith("strict gained")


def test_what_is_lost_by_the_correction_and_seeds_that_disagree_are_said():
    found = PairedComparison(0.05, (0.02, 0.08), 0.02, 900, None, (0.06, -0.01), "sign-flip")
    said = verdict_sentence(told(found, 0.12, "gain"))[2]
    assert "Yes: +5.0 points (95% +2.0 to +8.0; p = 0.020, corrected = 0.120; n = 900). Looked at alone" in said
    assert said.endswith("The seeds disagree about the sign.")


def test_terminal_table_shows_rates_with_intervals(run):
    console = Console(width=120, file=StringIO())
    console.print(table(summarise(run)))
    rows = [line.split() for line in console.file.getvalue().splitlines()]
    assert ["│", "strict", "│", "start", "│", "40", "│", "40.0%", "[26.3–55.4%]", "│"] in [row[:10] for row in rows]
    assert table(summarise(run)).row_count == 9


# -- the files


class Page(HTMLParser):
    """What a browser would find: elements with their attributes, and text."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def test_report_files_agree_and_leave_nothing_beside_them(run):
    before = {path.name for path in run.iterdir()}
    summary = write_report(run)
    assert json.loads((run / "report.json").read_text()) == summary
    for arm in summary["arms"].values():  # what attempts took is in the traces, which a summary alone does not read
        costs = [r.pop("cost") for r in arm["rounds"]]
        assert costs == [None, *[{"attempts": 10, "turns": 10, "tokens": 0, "cut_off": 0}] * 2]
    assert summary == summarise(run)
    assert {path.name for path in run.iterdir()} - before == {"report.json", "report.html", "rates.svg"}


def test_report_is_equal_bytes_each_time(run):
    write_report(run)
    first = (run / "report.html").read_bytes()
    write_report(run)
    assert (run / "report.html").read_bytes() == first


def test_page_shows_figures_proofs_and_what_the_seed_model_was_made_of(run):
    write_report(run)
    page = Page((run / "report.html").read_text())
    figures = [a for tag, a in page.elements if tag == "svg"]
    assert len(figures) == 3  # the forest of comparisons, two rates
    anchors = [a["href"][1:] for tag, a in page.elements if tag == "a" and a.get("href", "").startswith("#")]
    assert {"comparisons", "proofs", "provenance"} <= set(anchors) <= {a["id"] for _, a in page.elements if "id" in a}
    assert all(figure["role"] == "img" and figure["aria-label"] for figure in figures)
    assert "What the seed model was made of" in page.text
    assert "58000" in page.text
    assert "Rex is a wumpus.  [from 2, 1]  (wumpus rex)" in page.text
    assert "goal_not_reached" in page.text
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert not [i for i in ids if re.fullmatch(r"[a-z.]+_\d+", i)]


def test_page_asks_nothing_of_the_network(run):
    write_report(run)
    page = Page((run / "report.html").read_text())
    policy = next(a["content"] for t, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"
    assert not {"link", "iframe", "img", "object", "script"} & {tag for tag, _ in page.elements}
    for _, attrs in page.elements:
        assert not [v for k, v in attrs.items() if k in ("src", "href", "xlink:href") and not v.startswith("#")]


def test_what_a_model_wrote_is_never_markup(tmp_path):
    name = 'naive" onload="w()"><script>z()</script>$x_1$'
    run = make_run(tmp_path, {"strict": [(8, 2), (9, 3)], name: [(8, 2), (9, 3)]}, completion=ATTACK)
    rewrite(run / "lines.json", lambda r: r["provenance"].update({"<script>": {"<img src=x>": ["<b>", 1]}}))
    for path in run.rglob("seed-0/round-000/traces.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            line["problem"]["context"] = line["problem"]["question"] = ATTACK
            line["problem"]["options"], line["problem"]["answer"] = [ATTACK], "A"
            line["judgement"]["reason"] = line["judgement"]["feedback"] = ATTACK
            if line["judgement"]["certificate"]:
                line["judgement"]["certificate"]["evidence"]["steps"][0] = {"statement": ATTACK, "by": ATTACK}
        path.write_text("".join(line_of(line) for line in lines))
    write_report(run)
    page = Page((run / "report.html").read_text())
    tags = [tag for tag, _ in page.elements]
    assert "img" not in tags
    assert "script" not in tags
    assert not [attrs for _, attrs in page.elements if any(key.startswith("on") for key in attrs)]
    assert page.text.count(ATTACK[:30]) > 8  # shown as text, wherever it came in


def test_other_evidence_is_shown_part_by_part(tmp_path):
    run = make_run(tmp_path, {"strict": [(8, 2), (9, 3)]}, seeds=1)
    path = run / "strict/seed-0/round-000/traces.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line["judgement"]["certificate"]["evidence"] = {"steps": "none", "model": ["p(a)"]}
        line["messages"] = [{"role": "assistant", "content": "And \ud800 then?"}]
        del line["completion"]
    path.write_text("".join(line_of(line) for line in lines))
    write_report(run)
    text = Page((run / "report.html").read_text()).text
    assert "model:" in text
    assert "1. p(a)" in text


def test_broken_trace_line_is_named(run):
    path = run / "strict/seed-0/round-001/traces.jsonl"
    path.write_text(path.read_text() + "{half")
    with pytest.raises(ValueError, match=r"traces.jsonl:6: not a JSON object"):
        write_report(run)


def test_figure_is_equal_bytes_each_time_and_says_what_it_shows(run, tmp_path):
    paths = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for path in paths:
        report.write_figure(summarise(run), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].read_text().startswith("<?xml")


def test_the_square_opens_the_report_when_an_arm_was_measured_under_both_decodings(run):
    write_report(run)
    assert "Decoding or training?" not in (run / "report.html").read_text()
    for path in [*run.glob("base/naive/*/evaluation.json"), *run.glob("naive/*/*/evaluation.json")]:
        free = evaluation(9, 1, decoding="free", guided=mode([1] * 15 + [0] * 5, [1] * 11 + [0] * 9))
        rewrite(path, lambda r, free=free: r.update(free))
    write_report(run)
    page = Page((run / "report.html").read_text())
    assert page.text.index("Decoding or training?") < page.text.index("Comparisons")
    assert "55.0%" in page.text
    cells = {(c["arm"], c["decoding"], c["round"]): c for c in json.loads((run / "report.json").read_text())["square"]}
    last = max(number for *_, number in cells)
    assert cells["naive", "guided", last]["certified"] == 0.55
    assert cells["naive", "free", last]["certified"] == 0.05
    assert cells["naive", "free", last]["n"] == 2 * N
    assert ("strict", "free", last) not in cells


def test_the_metric_declared_before_the_run_is_a_family_of_its_own(run):
    alone = {(c["b"], c["metric"]): c["p_holm"] for c in summarise(run)["comparisons"]}
    (run / "config.yaml").write_text("evaluation: {primary: certified}\n")
    summary = summarise(run)
    assert summary["primary"] == "certified"
    assert all(c["primary"] == (c["metric"] == "certified") for c in summary["comparisons"])
    for c in summary["comparisons"]:
        assert c["p_holm"] <= alone[c["b"], c["metric"]]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (report.percent(0.5134), "51.3%"),
        (report.percent([0.48, 0.546]), "48.0–54.6%"),
        (report.percent(None), "–"),
        (report.points(0.312), "+31.2"),
        (report.points(-0.0), "+0.0"),
        (report.points([-0.01, 0.02]), "-1.0 to +2.0"),
        (report.p_value(0.0004), "< 0.001"),
        (report.p_value(0.0341), "0.034"),
    ],
)
def test_numbers_read_as_people_write_them(shown, expected):
    assert shown == expected


def test_imports_stay_light():
    heavy = ["torch", "transformers", "matplotlib", "jinja2", "scipy", "rich", "yaml", "numpy"]
    names = "rollout.records.traces, training.reporting.comparison"
    code = f"import sys, {names}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("adapters", "opening"), [([{"adapter": "a"}], "Not to be relied on: 1"), ([], "Revoked (")])
def test_a_report_of_a_run_in_which_something_was_revoked_opens_with_that(run, adapters, opening):
    revoked = {"revoked": {"certificates": ["c" * 64], "critics": []}, "adapters": adapters, "reports": []}
    save(run / "revoked.json", revoked)
    summary = write_report(run)
    assert verdict_sentence(summary)[0].startswith(opening)
    assert opening in (run / "report.html").read_text()
    assert json.loads((run / "report.json").read_text())["revoked"] == revoked
