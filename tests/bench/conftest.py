from __future__ import annotations

from pathlib import Path

import pytest
from bench.made import make


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("cluster") / "made")
