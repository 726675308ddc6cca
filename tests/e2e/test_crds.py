"""The kinds of Capsule and Tekton on a real API server."""

from __future__ import annotations

import crds
import pytest
from controlplane import ControlPlane

from kubectl_kres.model.kinds import KINDS

GROUPS = {"capsule.clastix.io": "capsule", "tekton.dev": "tekton"}


@pytest.mark.e2e
def test_every_kind_that_is_read_is_served(extended: ControlPlane) -> None:
    kinds = [kind for kind in KINDS if kind.group in GROUPS]
    assert {kind.group for kind in kinds} == set(GROUPS)
    for kind in kinds:
        status, answer = extended.request("GET", kind.path())
        assert status == 200, answer
        assert answer["kind"] == f"{kind.kind}List"


@pytest.mark.parametrize("prefix", GROUPS.values())
def test_definitions_need_no_webhook(prefix: str) -> None:
    assert all("conversion" not in one["spec"] for one in crds.definitions(prefix))
