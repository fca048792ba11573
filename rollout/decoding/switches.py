"""Switches of the decoding loop: what configurations name and traces record, without anything that decodes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Switches:
    """Ways of decoding that change cost or what is kept; with all of them off, results are as they always were."""

    jump_forward: bool = False
    """Forced bytes are written in their usual spelling without asking the model; odd spellings disappear."""
    gathered_head: bool = False
    """Inside blocks only the allowed rows of the output head are computed; equal but for floating-point error."""
    log_probabilities: bool = False
    """Keep each token's log-probability under the model as it is: no mask, temperature 1."""
    fit_blocks: bool = False
    """Near the token limit only blocks that still fit are opened and gone on with."""


ALL_OFF = Switches()
