"""Re-check of certificates: `critics.replay` of the evidence, and a second reading of the texts it is about.

`python -m critics.recheck FILE` needs nothing but Python. `second_reading` says which code is shared with the critics.
"""

from critics.recheck.index import recheck, recheck_one

__all__ = ["recheck", "recheck_one"]
