"""Re-check of certificates: the evidence by `critics.replay` (`index`), and the texts by judging again (`rejudging`).

`python -m critics.recheck FILE` checks evidence alone, and needs nothing but Python.
"""
