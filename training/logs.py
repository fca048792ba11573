"""Quiet for the libraries underneath: errors only, so that a run's own lines can be read."""

import logging
import warnings


def quieten() -> None:
    """Silence progress bars and notices of transformers, peft and bitsandbytes in this process."""
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # before anything imports it
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    for category in (FutureWarning, DeprecationWarning, UserWarning):
        warnings.filterwarnings("ignore", category=category, module=r"(torch|transformers|peft|bitsandbytes)\b")
