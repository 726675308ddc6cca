"""Pods and templates with faults beside resources: what explain says of the file is what the real server answers."""

from __future__ import annotations

from typing import Any

import pytest
from controlplane import ControlPlane
from e2e.saying import unordered

from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.reports.common.explanation import EvaluationOptions, Subject
from kubectl_kres.reports.explain.explain import explain
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

pytestmark = pytest.mark.e2e

GOOD = {"name": "app", "image": "img"}
HOST = {"containerPort": 80, "hostPort": 80}
SPECS: dict[str, dict[str, Any]] = {
    "nothing wrong": {"containers": [GOOD]},
    "no containers": {"containers": []},
    "no image": {"containers": [{"name": "app"}]},
    "no name": {"containers": [{"image": "img"}]},
    "one name twice": {"containers": [GOOD, GOOD]},
    "the name of an init container": {"containers": [GOOD], "initContainers": [GOOD]},
    "a name in capitals": {"containers": [{"name": "App", "image": "img"}]},
    "a name that is too long": {"containers": [{"name": "a" * 64, "image": "img"}]},
    "a port of the host twice": {"containers": [{**GOOD, "ports": [HOST]}, {**GOOD, "name": "b", "ports": [HOST]}]},
    "ports that are none": {"containers": [{**GOOD, "ports": [{"containerPort": 0}, {"containerPort": 65536}]}]},
    "several": {"containers": [{"name": "a.b"}, {"name": "a.b", "image": "img"}], "initContainers": [{"image": "img"}]},
}


@pytest.mark.parametrize("kind", ["Pod", "Deployment", "Job"])
@pytest.mark.parametrize("what", SPECS)
def test_faults_of_structure(controlplane: ControlPlane, namespace: str, what: str, kind: str) -> None:
    sent = made(kind, SPECS[what], namespace)
    path = f"{BY_KIND[kind].path(namespace)}?dryRun=All"
    status, answer = controlplane.request("POST", path, sent)
    found = explain(
        Store(Origin("files")), Subject(ObjectRef(kind, "one", namespace), BY_KIND[kind], sent), EvaluationOptions()
    )
    assert found.verdict.allowed is (status == 201), answer
    if status != 201:
        assert unordered(found.verdict.message) == unordered(answer["message"])


UNREADABLE = {"containers": [{**GOOD, "resources": {"limits": {"cpu": "x"}}}]}


@pytest.mark.parametrize("kind", ["Pod", "Deployment", "Job"])
@pytest.mark.parametrize("spec", [SPECS["nothing wrong"], SPECS["no image"], UNREADABLE], ids=["good", "bad", "text"])
def test_a_namespace_that_is_not_there(controlplane: ControlPlane, kind: str, spec: dict[str, Any]) -> None:
    """It comes before all but what the server cannot even read."""
    sent = made(kind, spec, "nowhere")
    status, answer = controlplane.request("POST", f"{BY_KIND[kind].path('nowhere')}?dryRun=All", sent)
    store = Store(Origin("cluster"))
    for known in ("LimitRange", "ResourceQuota", "Namespace"):
        store.cover(ReadRequest(known), READ)
    found = explain(
        store, Subject(ObjectRef(kind, "one", "nowhere"), BY_KIND[kind], sent, "one.yaml"), EvaluationOptions()
    ).verdict
    assert (found.code, found.message) == (status, answer["message"])


def made(kind: str, spec: dict[str, Any], namespace: str) -> dict[str, Any]:
    """An object with this spec for its pods."""
    head = {"apiVersion": BY_KIND[kind].api_version, "kind": kind, "metadata": {"name": "one", "namespace": namespace}}
    if kind == "Pod":
        return {**head, "spec": spec}
    labels = {"app": "one"}
    if kind == "Job":
        return {**head, "spec": {"template": {"spec": {**spec, "restartPolicy": "Never"}}}}
    template = {"metadata": {"labels": labels}, "spec": spec}
    return {**head, "spec": {"selector": {"matchLabels": labels}, "template": template}}
