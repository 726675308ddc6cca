"""The command line beside the functions, and a server that notes what it is asked."""

from __future__ import annotations

import pytest
from cli.conftest import api, kres, nowhere  # noqa: F401, fixtures
from cli.running import Kres


@pytest.fixture
def run(kres: Kres) -> Kres:  # noqa: F811, the fixture
    """Runs ``kubectl kres``."""
    return kres
