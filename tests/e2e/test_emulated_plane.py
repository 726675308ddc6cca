"""Servers that emulate an older version, which is what an upgrade does first: rules are those of that version."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from controlplane import BASIC_CONTROLLERS, ControlPlane
from e2e import manifests
from e2e.asking import Asking
from e2e.conftest import STILL
from e2e.differential import Results, Run
from e2e.generate import settings
from e2e.judging import judge
from e2e.plugin import environment, plugin
from e2e.seed import SEED

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import parse
from kubectl_kres.admission.request.new_pod import policies_of

pytestmark = pytest.mark.e2e

COUNT = int(os.environ.get("KRES_CASES") or 120)


@pytest.fixture(scope="module", params=["1.34", "1.36"])
def emulating(assets: Path, request: pytest.FixtureRequest) -> Iterator[tuple[ControlPlane, str]]:
    options: dict[str, Any] = {"controllers": BASIC_CONTROLLERS, "controller_args": STILL}
    with ControlPlane(assets, apiserver_args=[f"--emulated-version={request.param}"], **options) as plane:
        yield plane, request.param


def server(version: str) -> Server:
    found = parse(version)
    assert found is not None
    return Server(version=found, disabled_plugins=frozenset({"ServiceAccount"}), binary=Server().version)


def test_the_version_that_rules_follow(emulating: tuple[ControlPlane, str], kubectl: Path, tmp_path: Path) -> None:
    plane, version = emulating
    kres = plugin(kubectl, environment(plane.kubeconfig, kubectl, tmp_path), tmp_path)
    assert f"(emulates {version})" in kres("version").stdout


def test_settings(emulating: tuple[ControlPlane, str]) -> None:
    plane, version = emulating
    with Asking(plane) as asking:
        results: Results = Run(asking, secrets.token_hex(3), server(version)).play(settings(SEED, count=6))
    wrong = [one.about for one in results.judged if one.faults]
    if wrong:
        pytest.fail("\n".join([f"seed {SEED} (KRES_SEED): {len(wrong)} wrong", *wrong[:6]]), pytrace=False)


def test_manifests(emulating: tuple[ControlPlane, str]) -> None:
    plane, version = emulating
    wrong: list[str] = []
    with Asking(plane) as asking:
        asking.create({"kind": "Namespace", "metadata": {"name": "edges"}})
        for index in range(COUNT):
            rng = random.Random(f"{SEED}/{version}/{index}")
            make = rng.choice((manifests.pod, manifests.workload))
            object_ = manifests.altered(rng, make(rng, f"one-{index}"), rng.choice((0, 1, 1, 2)))
            wrong += judge(asking, "edges", object_, policies_of((), (), (), ()), server(version))
    if wrong:
        pytest.fail("\n".join([f"seed {SEED} (KRES_SEED)", *wrong[:20]]), pytrace=False)
