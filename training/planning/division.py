"""Division of a machine among the lines of rounds that are worked on at once, as the run itself divides it."""

from dataclasses import dataclass
from math import ceil

from training.configuration.run import RunConfig
from training.workers.choice import check_shares, cores_for_each, gpus_of, lines_at_once, num_samplers


@dataclass(frozen=True, slots=True)
class Division:
    """Lines, and what each has of the machine."""

    lines: int
    """Lines at work at once."""
    sharing: int
    """Number of them that share the machine's memory, or one GPU's."""
    processes: int
    """Processes of a fine-tuning, one a GPU of its line, in the line with fewest."""
    policies: int
    """Policies of a line, no more than there are batches for."""
    samplers: int
    """Number of them that share the machine's memory, or one GPU's."""

    def said(self, gpus: int) -> str:
        """Return what people are told."""
        if not gpus:
            return f"{self.lines} at a time"
        each = f"{self.sharing} share a GPU" if self.sharing > 1 else f"{self.processes} of {gpus} GPUs each"
        return f"{self.lines} at a time, {each}"


def divided(config: RunConfig, gpus: int) -> Division:
    """Return the division on so many GPUs; raises `ConfigError` where a line could not share its rows among its own."""
    lines = lines_at_once(config, gpus, len(config.arms) * len(config.seeds))
    check_shares(config, lines, gpus)
    each = len(gpus_of(lines - 1, lines, [""] * gpus))
    if config.workers.backend == "ray" or config.model.engine == "vllm":
        policies = max(1, each // (config.model.vllm.tensor_parallel if config.model.engine == "vllm" else 1))
    else:
        policies = min(num_samplers(config, cores=cores_for_each(lines), gpus=each), _most_batches(config))
    return Division(
        lines=lines,
        sharing=ceil(lines / gpus) if gpus else lines,
        processes=max(1, each),
        policies=policies,
        samplers=ceil(policies / max(1, each)),
    )


def _most_batches(config: RunConfig) -> int:
    sampling, evaluation = config.sampling, config.evaluation
    return max(
        ceil(config.star.problems_per_round / sampling.batch_size),
        ceil(evaluation.num_problems / evaluation.batch_size),
    )
