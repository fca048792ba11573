"""`python -m training` is `certistar`."""

from training.cli import app

app()
