import os
from pathlib import Path

import pytest


@pytest.fixture
def shared() -> Path:
    """The folder of public data beside the repository, or the one that CERTISTAR_SHARED names."""
    beside = Path(__file__).parents[1] / ".." / "shared"
    folder = Path(os.environ.get("CERTISTAR_SHARED") or beside).resolve()
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder} (set CERTISTAR_SHARED)")
    return folder
