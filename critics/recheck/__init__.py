"""Certificates re-checked without the critics that made them; `python -m critics.recheck FILE` needs nothing else."""

from critics.recheck.index import recheck, recheck_one

__all__ = ["recheck", "recheck_one"]
