"""The command line beside the functions, and a server that notes what it is asked."""

from __future__ import annotations

import pytest
from cli.conftest import api, kres, nowhere
from cli.running import Kres


@pytest.fixture
def run(kres: Kres) -> Kres:
    """Runs ``kubectl kres``."""
    return kres
