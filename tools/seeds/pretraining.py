"""The embedded seed model: a small causal LM trained from scratch on generated demonstrations.

Mediocre on purpose. The curriculum's last phase mixes demonstrations that stop early and guess, and ones that
misformalise, so that self-improvement has something to improve; how much of each is in the configuration and
in the model's provenance. Copying emerges only along a curriculum of growing hops.
"""

import hashlib
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from critics.grammar.inflection import singular
from critics.problem import Formal, Problem
from critics.replay.formula import Literal, Rule, parse_statement
from rollout.policies.policy import load_model, load_tokenizer, model_digest, prompt_ids
from rollout.problems.catalogue import family
from rollout.problems.prontoqa import ADJECTIVES, NAMES, PrOntoQA, generate, with_article
from rollout.prompts.demonstration import compose, decide, read_out
from rollout.prompts.prompt import text
from rollout.prompts.style import PromptStyle, numbered_sentences
from tools.seeds import actor_curriculum, round_trip_curriculum
from tools.seeds.configuration import (
    ActorPretrainingConfig,
    AnyPretrainingConfig,
    PhaseConfig,
    PretrainingConfig,
    RoundTripPretrainingConfig,
)
from tools.seeds.piece_tokenizer import EOS, PAD
from training.finetuning.examples import Collator, Example
from training.logs import quieten

_PIECES = r" ?[0-9]+-| 'x\)+\]\]| 'x\) -> \((?:not \()?|\)*\]\]| ?\[\[[a-z]+:\(*(?:not \()?| ?[A-Za-z]+|[0-9]|\s|."
"""Where the tokenizer may cut: words with their blank, and the brackets of guided text with theirs."""
_PHRASES = r" ?[0-9]+-| ?(?:Each|Every) [a-z]+| (?:is|are) (?:not )?(?:an? )?[a-z]+| ?[A-Za-z]+|[0-9]|\s|."
"""The same for English: a subject is one token and what is said of it the next, so that looking up is one step back."""
_BARE = PromptStyle()
Writer = Callable[[Problem, Formal, list[Literal], str], str]
"""Way to write an attempt with given inferences and answer."""
_WRITERS: Mapping[str, Writer] = {"guided": compose, "cot": read_out}


def pretrain(config: AnyPretrainingConfig, out: Path) -> dict[str, Any]:
    """Train the seed model of `config` into `out`; return its provenance, which is written beside it."""
    quieten()
    import torch
    from transformers import set_seed

    torch.set_num_threads(1)
    start = _start(config)
    tokenizer = load_tokenizer(start) if start else _tokenizer(config)
    set_seed(config.seed)
    model = _earlier_model(start) if start else build_model(config, tokenizer)
    batches = [batch for phase in range(len(config.phases)) for batch in _batches(config, phase, tokenizer)]
    trainer = _trainer(config, model, tokenizer, batches, out)
    result = trainer.train()
    model.half().save_pretrained(out)
    tokenizer.save_pretrained(out)
    provenance = _provenance(config, model, tokenizer, result.metrics)
    (out / "provenance.json").write_text(json.dumps(provenance, indent=1) + "\n")
    return provenance


def _tokenizer(config: AnyPretrainingConfig) -> Any:
    match config:
        case PretrainingConfig():
            return build_tokenizer(config)
        case ActorPretrainingConfig():
            return actor_curriculum.build_actor_tokenizer(config)
        case RoundTripPretrainingConfig():
            return round_trip_curriculum.build_round_trip_tokenizer(config)


def _start(config: AnyPretrainingConfig) -> str | None:
    return config.start if isinstance(config, PretrainingConfig) else None


def demonstrations(
    phase: PhaseConfig, *, seed: int, index: int, format_: str = "guided"
) -> Iterator[tuple[Problem, str]]:
    """Yield the phase's problems with their completions, data sets mixed; flawed ones at the configured rates."""
    for problem in _mixed(phase, seed * 100 + index):
        rng = random.Random(f"{seed}/{problem.id}")
        match phase.lesson:
            case "solve":
                yield problem, _flawed(problem, phase, rng, _WRITERS[format_])
            case "walk":
                yield problem, _walked(problem, rng)
            case "repeat" | "quote":
                yield problem, _said_again(problem, phase, rng)


def _said_again(problem: Problem, phase: PhaseConfig, rng: random.Random) -> str:
    """Return the context's sentences in another order: to say one again, a model must look it up."""
    sentences = numbered_sentences(problem.context)
    if phase.lesson == "repeat":
        start = rng.randrange(len(sentences))
        return " ".join(sentences[start:] + sentences[:start])
    return " ".join(rng.sample([sentence.partition(" ")[2] for sentence in sentences], len(sentences)))


def _walked(problem: Problem, rng: random.Random) -> str:
    """Return what follows of names that the problem does not have, rule by rule, by chance where two apply.

    Each walk starts at a rule that was not walked, and ends where no rule goes on.
    """
    assert problem.formal is not None
    rules = [rule for rule in map(parse_statement, problem.formal.axioms) if isinstance(rule, Rule)]
    said: list[str] = []
    left = rng.sample(rules, len(rules))
    while left:
        literal = left[0].premises[0]
        name = rng.choice([name for name in NAMES if name not in problem.context])
        while True:
            noun = literal.predicate if literal.predicate in ADJECTIVES else with_article(literal.predicate)
            said.append(f"{name} is {'' if literal.positive else 'not '}{noun}.")
            applied = [rule for rule in rules if rule.premises[0] == literal]
            if not applied:
                break
            rule = rng.choice(applied)
            left = [each for each in left if each != rule]
            literal = rule.conclusion
    return " ".join(said)


def _mixed(phase: PhaseConfig, seed: int) -> Iterator[Problem]:
    """Yield the problems of all data sets of the phase, each data set's in their order."""
    own = PrOntoQA(
        hops=tuple(phase.hops),
        extra_kinds=phase.extra_kinds,
        forks=phase.forks,
        property_rate=phase.property_rate,
        forms=phase.forms,
        split="pretrain",
    )
    sources = [(phase.num_examples, generate(own, phase.num_examples, seed=seed))]
    for part in phase.mixture:
        made = family(part.dataset)
        configured = made.configured(part.family, "pretrain")
        sources.append((part.num_examples, made.generate(configured, part.num_examples, seed=seed)))
    turns = [source for source, (num, _) in enumerate(sources) for _ in range(num)]
    if phase.mixture:
        random.Random(f"mixture/{seed}").shuffle(turns)
    for source in turns:
        yield next(sources[source][1])


def _flawed(problem: Problem, phase: PhaseConfig, rng: random.Random, write: Writer) -> str:
    """Return a demonstration that with the phase's rates guesses early, or gets one axiom wrong."""
    assert problem.formal is not None
    formal = problem.formal
    answer, inferences = decide(formal)
    if rng.random() < phase.guess_rate:
        inferences = inferences[: rng.randrange(max(1, len(inferences)))]
        answer = rng.choice(("true", "false"))
    if rng.random() < phase.misformalise_rate and problem.dataset == "prontoqa":
        formal = _misformalised(formal, rng)
    return write(problem, formal, inferences, answer)


def _misformalised(formal: Formal, rng: random.Random) -> Formal:
    """Flip the sign of the conclusion of one rule."""
    axioms = list(formal.axioms)
    position = rng.randrange(len(axioms) - 1)
    statement = parse_statement(axioms[position])
    premises, _, conclusion = str(statement).rpartition(" -> ")
    axioms[position] = f"{premises} -> {_flip(conclusion)}"
    return Formal(tuple(axioms), formal.goal)


def _flip(literal: str) -> str:
    return literal[5:-1] if literal.startswith("(not ") else f"(not {literal})"


def build_tokenizer(config: PretrainingConfig) -> Any:
    """Return a byte-level BPE tokenizer in which every word of the fictional ontology is one token."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PHRASES if config.format == "cot" else _PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=4096,
        min_frequency=5,
        special_tokens=[EOS, PAD],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    last = config.phases[-1]
    asked = {"hops": [1, 2, 3, 4, 5], "extra_kinds": (0, 3), "forks": last.forks, "forms": last.forms}
    sample = PhaseConfig(num_examples=3000, **asked)
    mixture = [part.model_copy(update={"num_examples": 1000}) for part in config.phases[-1].mixture]
    sample = sample.model_copy(update={"mixture": mixture})
    texts = [text(p, _BARE) + c for p, c in demonstrations(sample, seed=config.seed, index=99, format_=config.format)]
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=EOS, pad_token=PAD)


def build_model(config: AnyPretrainingConfig, tokenizer: Any) -> Any:
    """Return an untrained Llama of the configured size."""
    from transformers import LlamaConfig, LlamaForCausalLM

    size = config.model
    model: Any = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=size.hidden,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            num_key_value_heads=size.heads,
            intermediate_size=size.mlp,
            max_position_embeddings=1024,
            rope_parameters={"rope_type": "default", "rope_theta": size.rope_theta},
            tie_word_embeddings=True,
            initializer_range=0.06,  # at the default of 0.02 copying emerged ten times later
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    model.set_attn_implementation("eager")  # on a CPU in bf16, twice the tokens per second of sdpa
    if isinstance(config, PretrainingConfig) and config.shared_words:
        _share_words(model, tokenizer)
    return model


def _share_words(model: Any, tokenizer: Any) -> None:
    """Give each token of words the sum of its words' vectors, a noun's plural its singular's, and a little noise."""
    import torch

    rows = model.get_input_embeddings().weight
    vectors: dict[str, Any] = {}
    with torch.no_grad():
        for token in range(len(tokenizer)):
            words = re.findall(r"[a-z]{2,}", tokenizer.decode([token], skip_special_tokens=True).lower())
            kinds = [singular(word) if word.endswith("puses") else word for word in words]
            for word in kinds:
                vectors.setdefault(word, torch.randn(rows.shape[1]) * model.config.initializer_range)
            if kinds:
                rows[token] = sum(vectors[word] for word in kinds) + 0.01 * torch.randn(rows.shape[1])


def _earlier_model(folder: str) -> Any:
    return load_model(folder, dtype="float32", attn_implementation="eager")


def _batches(config: AnyPretrainingConfig, phase: int, tokenizer: Any) -> Iterator[list[Example]]:
    """Yield batches of similar length, so that little is padded; their order is shuffled in windows."""
    window = 64 * config.batch_size
    examples = list(_examples(config, phase, tokenizer))
    rng = random.Random(f"{config.seed}/{phase}")
    for start in range(0, len(examples), window):
        part = sorted(examples[start : start + window], key=lambda e: e.num_tokens)
        batches = [part[i : i + config.batch_size] for i in range(0, len(part), config.batch_size)]
        rng.shuffle(batches)
        yield from batches


def _examples(config: AnyPretrainingConfig, phase: int, tokenizer: Any) -> Iterator[Example]:
    seed = config.seed * 100 + phase
    match config:
        case PretrainingConfig():
            lessons = demonstrations(config.phases[phase], seed=config.seed, index=phase, format_=config.format)
            for problem, completion in lessons:
                yield _tokenised(problem.id, text(problem, _BARE), completion, tokenizer)
        case ActorPretrainingConfig():
            for lesson in actor_curriculum.lessons(config, config.phases[phase], seed=seed):
                turns = [dict(turn) for turn in lesson.messages]
                read = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
                yield _tokenised(lesson.id, read, lesson.reply, tokenizer)
        case RoundTripPretrainingConfig():
            for lesson in round_trip_curriculum.lessons(config, config.phases[phase], seed=seed):
                yield _tokenised(lesson.id, lesson.prompt, lesson.completion, tokenizer)


def _tokenised(example_id: str, prompt: str, completion: str, tokenizer: Any) -> Example:
    """Tokenise prompt and completion apart, as the policy does when it rolls out, and end in end-of-text."""
    completion_ids = tokenizer(completion, add_special_tokens=False)["input_ids"]
    return Example.of(example_id, prompt_ids(tokenizer, prompt, _BARE), [*completion_ids, tokenizer.eos_token_id])


def _trainer(
    config: AnyPretrainingConfig,
    model: Any,
    tokenizer: Any,
    batches: list[list[Example]],
    out: Path,
) -> Any:
    from transformers import Trainer, TrainingArguments

    collator = Collator(tokenizer.pad_token_id)
    arguments = TrainingArguments(
        output_dir=str(out),
        num_train_epochs=1,
        per_device_train_batch_size=1,
        learning_rate=config.learning_rate,
        lr_scheduler_type="warmup_stable_decay",
        lr_scheduler_kwargs={"num_decay_steps": len(batches) // 4},
        warmup_steps=100,
        weight_decay=0.01,
        adam_beta2=0.98,
        max_grad_norm=1.0,
        bf16=True,
        use_cpu=True,
        train_sampling_strategy="sequential",
        logging_steps=100,
        save_strategy="no",
        report_to=[],
        remove_unused_columns=False,
        seed=config.seed,
    )
    optimizer = None
    if isinstance(config, PretrainingConfig) and config.matrix_rate is not None:
        from tools.seeds.optimizer import Muon

        optimizer = Muon(model, learning_rate=config.learning_rate, matrix_rate=config.matrix_rate)
    prepared: Any = batches
    collate: Any = lambda rows: collator([(example,) for example in rows[0]])  # noqa: E731
    return Trainer(
        model,
        arguments,
        train_dataset=prepared,
        data_collator=collate,
        optimizers=(optimizer, None),
    )


def _provenance(config: AnyPretrainingConfig, model: Any, tokenizer: Any, metrics: dict[str, float]) -> dict[str, Any]:
    record = config.model_dump(mode="json")
    text_ = json.dumps(record, sort_keys=True)
    start = _start(config)
    return {
        "made_by": "python -m tools.seeds",
        "started_from": model_digest(start) if start else "scratch",
        "num_parameters": sum(p.numel() for p in model.parameters()),
        "vocabulary": len(tokenizer),
        "sequences": _num_sequences(config),
        "mean_loss": round(metrics["train_loss"], 4),
        **_on_purpose(config),
        "split": "pretrain (disjoint by content from train, develop and test)",
        "config": record,
        "config_digest": hashlib.sha256(text_.encode()).hexdigest(),
    }


def _num_sequences(config: AnyPretrainingConfig) -> int:
    match config:
        case PretrainingConfig():
            return sum(p.num_examples + sum(m.num_examples for m in p.mixture) for p in config.phases)
        case ActorPretrainingConfig():
            return sum(phase.num_examples for phase in config.phases)
        case RoundTripPretrainingConfig():
            return sum(2 * phase.num_formulas * phase.times for phase in config.phases)


def _on_purpose(config: AnyPretrainingConfig) -> dict[str, float | dict[str, float]]:
    """Return how much of the last phase is wrong on purpose, and how far what was solved goes."""
    match config:
        case PretrainingConfig():
            last = config.phases[-1]
            guesses, misformalised = last.guess_rate, last.misformalise_rate
            solved = [phase for phase in config.phases if phase.lesson == "solve"]
            return {
                "demonstrations_that_guess": guesses,
                "demonstrations_misformalised": misformalised,
                "most_hops": max((hops for phase in solved for hops in phase.hops), default=0),
                "said_again": sum(phase.num_examples for phase in config.phases if phase.lesson != "solve"),
            }
        case ActorPretrainingConfig():
            return {"wrong_on_purpose": config.phases[-1].flaws.model_dump(mode="json")}
        case RoundTripPretrainingConfig():
            last = config.phases[-1]
            return {"lessons_wrong": last.error_rate, "formulas_unreadable": last.unreadable_rate}
