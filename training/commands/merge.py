"""`merge`: an adapter merged into its model, as a folder that everything reads."""

from pathlib import Path
from typing import Annotated

import typer

from critics.errors import InputError
from training.commands.options import Config, Json, Out, Overrides, say_or_print

EXAMPLE = "certistar merge configs/smoke.yaml --adapter adapter --out merged"


def merge(
    config: Config,
    out: Out,
    adapter: Annotated[
        Path | None, typer.Option("--adapter", help="A folder that `train` or a round wrote; model.adapter, if none.")
    ] = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Merge a LoRA adapter into the configuration's model, in float32, for servers and as the base of other runs."""
    from training.configuration.run import load_run

    told = [] if adapter is None else [f"model.adapter={adapter}"]
    model = load_run(config, [*(overrides or []), *told]).model
    if model.adapter is None:
        raise InputError("--adapter: name the folder of an adapter, here or as model.adapter")
    if out.exists():
        raise InputError(f"--out {out}: is there already; name a new folder")
    from rollout.policies.policy import load_model, load_tokenizer, model_digest
    from training.records.store import write_json

    merged, digest = load_model(model.pinned, dtype="float32"), model_digest(model.pinned)
    part = out.with_name(f".{out.name}.part")
    merged.save_pretrained(part)
    load_tokenizer(model.pinned).save_pretrained(part)
    write_json(part / "merged.json", {"model": model.name, "adapter": model.adapter, "digest": digest})
    part.rename(out)
    say_or_print(f"{model.name} with {model.adapter} merged in {out}", {"out": str(out), "digest": digest}, as_json)
