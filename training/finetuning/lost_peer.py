"""Remedies when another process of a fine-tuning is gone: its machine was lost, or it failed and says why itself."""

from training.finetuning.torchrun import AGAIN

SIGNS = ("closed by peer", "reset by peer", "connection refused", "broken pipe", "timed out", "timeout", "nccl", "gloo")


def is_lost_peer(error: BaseException) -> bool:
    """Say whether an error of one of several processes means that another does not answer."""
    import torch.distributed as distributed

    network = (distributed.DistNetworkError, distributed.DistStoreError, distributed.DistBackendError)
    return isinstance(error, network) or any(sign in str(error).lower() for sign in SIGNS)


def lost_peer(error: BaseException) -> str:
    """Return one line for people."""
    what = str(error).strip().partition("\n")[0]
    return f"another training process ended or answers no more ({what}); see what its machine says, and {AGAIN}"
