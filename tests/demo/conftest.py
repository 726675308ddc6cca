from __future__ import annotations

import pytest

from kubectl_kres.snapshot import read as demo
from kubectl_kres.snapshot.read import read
from kubectl_kres.store.store import Store


@pytest.fixture(scope="module")
def store() -> Store:
    """The bundled demo."""
    return read(str(demo.demo_path()))
