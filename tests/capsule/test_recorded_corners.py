"""Corners of the rules, recorded from the controller of Capsule 0.14.0 as the vectors were, which do not have them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from conformance import capsule
from conformance.compare import faults

FILE = msgspec.json.decode((Path(__file__).parent / "corners.json").read_bytes())


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in FILE["cases"]])
def test_corner(case):
    found = faults(
        capsule.answers(case),
        capsule.play(case, FILE),
        capsule.COMPARED,
        complete=False,
        optional=capsule.OPTIONAL,
        loose=capsule.loose(case, FILE),
    )
    assert not found, "\n".join(["", *found])
