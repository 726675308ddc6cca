"""The real admission controller of the vertical autoscaler before a real API server: the stored pod is as predicted.

KRES_CASES: how many worlds (40). KRES_RANDOM=1: of another seed each time, which is printed.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import build
import pytest
from controlplane import BASIC_CONTROLLERS, ControlPlane
from e2e.plugin import Kres, environment, plugin
from vpa_webhook import plane as vpa_plane
from vpa_webhook.test_recorded_webhook import answer_of, outcomes_of, sorted_parts
from vpa_webhook.worlds import HALF, by_lot, limits, pod, rec, vpa

pytestmark = pytest.mark.e2e

COUNT = int(os.environ.get("KRES_CASES", "40"))
SEED = secrets.randbelow(10**6) if os.environ.get("KRES_RANDOM") else 2026


@pytest.fixture(scope="module")
def plane(assets: Path) -> Iterator[ControlPlane]:
    """A control plane that serves the kinds of the vertical autoscaler."""
    try:
        vpa_plane.binary()
    except build.NoBinaryError as error:
        pytest.skip(f"no admission controller of the vertical autoscaler: {error}")
    with ControlPlane(assets, controllers=BASIC_CONTROLLERS, controller_args=["--kube-api-qps=200"]) as started:
        vpa_plane.install(started)
        yield started


def test_stored_pods_are_as_predicted(plane: ControlPlane) -> None:
    print(f"seed {SEED}")
    wrong = []
    cases = list(vpa_plane.play(plane, list(by_lot(COUNT, SEED)), first=1000))
    for case in cases:
        expect = {key: value for key, value in case["expect"].items() if key != "updates"}
        if sorted_parts(expect) not in [sorted_parts(answer_of(outcome)) for outcome in outcomes_of(case)]:
            wrong.append(case)
    assert wrong == []
    assert len(cases) == COUNT


def played(plane: ControlPlane, number: int, world: dict[str, Any]) -> vpa_plane.Played:
    made = vpa_plane.Played(plane, number, world)
    template = {"metadata": {"labels": vpa_plane.LABELS}, "spec": world["pod"]}
    patch = {"spec": {"template": {"spec": template["spec"]}}}
    path = f"/apis/apps/v1/namespaces/{made.space}/deployments/app"
    stored = plane.request("GET", path)[1]
    stored["spec"]["template"] = {**stored["spec"]["template"], **patch["spec"]["template"]}
    vpa_plane.sent(plane, "PUT", path, stored)
    return made


def test_the_program_reads_and_computes_it(plane: ControlPlane, kubectl: Path, tmp_path: Path) -> None:
    """Through the program itself: the next pod of a Deployment, and what is said where the webhook is not there."""
    kres: Kres = plugin(kubectl, environment(plane.kubeconfig, kubectl, tmp_path), tmp_path)
    world = {
        "vpas": [vpa([rec("c0", {"cpu": "2", "memory": "300Mi"})])], "pod": pod(HALF),
        "ranges": [limits("Container", max={"cpu": "1"})],
    }  # fmt: skip
    made = played(plane, 2000, world)
    words = ("explain", "deploy/app", "-n", made.space)
    with vpa_plane.serving(plane):
        computed = json.loads(kres(*words, "-o", "json").stdout)
        text = kres(*words, "--all").stdout
        vpa_plane.time.sleep(3)
        stored = made.case()["expect"]["stored"]["containers"]["c0"]
    values = {(value["side"], value["resource"]): value for value in _values(computed)}
    assert {key: value["value"] for key, value in values.items()} == {
        (side, name): amount for side, amounts in stored.items() for name, amount in amounts.items()
    }
    assert values["requests", "cpu"]["rule"] == "vpa/limit-range-max"
    assert "failurePolicy Ignore" in text
    assert "webhook vpa.k8s.io" in text
    bare = json.loads(kres(*words, "-o", "json").stdout)
    assert {(value["side"], value["resource"]): value["value"] for value in _values(bare)}["requests", "cpu"] == "100m"


def _values(answer: dict[str, Any]) -> list[dict[str, Any]]:
    container = answer["items"][0]["containers"][0]
    values: list[dict[str, Any]] = container["values"]
    return values


def test_a_fault_refuses_where_the_webhook_must_answer(plane: ControlPlane) -> None:
    """A container without recommendation and requests makes it panic: 500 with failurePolicy Fail."""
    world = {
        "vpas": [vpa([rec("c0", {"cpu": "1"})])], "pod": pod(HALF, {}), "ranges": [limits("Pod", max={"cpu": "300m"})],
    }  # fmt: skip
    with vpa_plane.serving(plane, fails=True):
        made = vpa_plane.Played(plane, 3000, world)
        vpa_plane.time.sleep(3)
        case = made.case()
    case["given"].append({"kind": "MutatingWebhookConfiguration", **plane_configuration("Fail")})
    (outcome,) = outcomes_of(case)
    assert (case["expect"]["code"], outcome.code) == (500, 500)
    start = 'Internal error occurred: failed calling webhook "vpa.k8s.io": failed to call webhook: '
    assert case["expect"]["message"].startswith(start)
    assert outcome.message.startswith(start)


def plane_configuration(policy: str) -> dict[str, Any]:
    """The configuration as registered."""
    return {"metadata": {"name": "vpa-webhook-config"}, "webhooks": [{"name": "vpa.k8s.io", "failurePolicy": policy}]}
