"""Real-looking manifests with a value changed here and there: the engine's answer is the real server's dry run."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from controlplane import ControlPlane
from e2e import manifests
from e2e.asking import Asking
from e2e.judging import judge
from e2e.seed import SEED

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import policies_of

pytestmark = pytest.mark.e2e

#: Where the plane is other than a server as it comes.
SERVER = Server(disabled_plugins=frozenset({"ServiceAccount"}))
#: Objects of each sort; a run that looks for new ones (KRES_RANDOM) may ask for more.
COUNT = int(os.environ.get("KRES_CASES") or 250)


@pytest.fixture(scope="module")
def asking(controlplane: ControlPlane) -> Iterator[Asking]:
    with Asking(controlplane) as found:
        yield found


@pytest.fixture(scope="module")
def space(asking: Asking) -> str:
    """A namespace without policies."""
    name = f"edges-{secrets.token_hex(3)}"
    assert asking.create({"kind": "Namespace", "metadata": {"name": name}}).status == 201
    return name


@pytest.mark.parametrize("make", [manifests.pod, manifests.workload], ids=["pods", "workloads"])
def test_altered_manifests(asking: Asking, space: str, make: Any) -> None:
    wrong: list[str] = []
    for index in range(COUNT):
        rng = random.Random(f"{SEED}/{make.__name__}/{index}")
        object_ = manifests.altered(rng, make(rng, f"one-{index}"), rng.choice((0, 1, 1, 1, 2)))
        wrong += judge(asking, space, object_, policies_of((), (), (), ()), SERVER)
    if wrong:
        pytest.fail("\n".join([f"seed {SEED} (KRES_SEED)", *wrong[:20]]), pytrace=False)


GOOD = {"name": "c", "image": "i"}
LABELS = {"app": "web"}


def pod(*, metadata: Any = None, container: Any = None, **spec: Any) -> dict[str, Any]:
    containers = [{**GOOD, **(container or {})}]
    metadata = {"name": "p", **(metadata or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}


def workload(kind: str, *, template: Any = None, **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [GOOD]}} if template is None else template
    whole = {"template": template, **spec}
    if kind not in {"Job", "ReplicationController"}:
        whole = {"selector": {"matchLabels": LABELS}, **whole}
    return {"apiVersion": manifests.KINDS[kind], "kind": kind, "metadata": {"name": "w"}, "spec": whole}


JOB = {
    "metadata": {"labels": {"controller-uid": "an-old-one"}},
    "spec": {"containers": [GOOD], "restartPolicy": "Never"},
}


def failing(rules: list[Any]) -> dict[str, Any]:
    return workload("Job", template={"spec": JOB["spec"]}, podFailurePolicy={"rules": rules})


def succeeding(rules: list[Any]) -> dict[str, Any]:
    policy = {"successPolicy": {"rules": rules}}
    return workload("Job", template={"spec": JOB["spec"]}, completionMode="Indexed", completions=3, **policy)


def service(**spec: Any) -> dict[str, Any]:
    whole = {"ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": whole}


#: What attack and corpus found.
FOUND: dict[str, dict[str, Any]] = {
    "an image with a blank behind it": pod(container={"image": "nginx "}),
    "an image with a blank before it": pod(container={"image": " nginx"}),
    "an image with a blank in a template": workload("Deployment", template={
        "metadata": {"labels": LABELS}, "spec": {"containers": [{**GOOD, "image": "nginx "}]}}),
    "a controller without selector and labels": workload(
        "ReplicationController", selector={}, template={"metadata": {"labels": {}}, "spec": {"containers": [GOOD]}}),
    "a claim template with a dot": workload("StatefulSet", serviceName="w", volumeClaimTemplates=[
        {"metadata": {"name": "d.d"}, "spec": {"accessModes": ["ReadWriteOnce"],
                                               "resources": {"requests": {"storage": "1Gi"}}}}]),
    "a bad beginning of a name": pod(metadata={"name": "", "generateName": "P-"}),
    "a good beginning of a name": pod(metadata={"name": "", "generateName": "p-"}),
    "a name with a dot": pod(metadata={"name": "a.b"}),
    "a name longer than a label": pod(metadata={"name": "a" * 70}),
    "a class that the pod brings": {**pod(), "status": {"qosClass": "Guaranteed"}},
    "a label that no selector can have": workload("Deployment", selector={"matchLabels": {"a": "b b"}}),
    "ephemeral containers without image": pod(ephemeralContainers=[{"name": "d"}]),
    "no restart policy": pod(container={"restartPolicy": ""}),
    "no operating system": pod(os={}),
    "a container that is null": pod() | {"spec": {"containers": [None]}},
    "an ephemeral container that is null": pod(ephemeralContainers=[None]),
    "a mirror without a node": pod(metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}),
    "a template with empty labels": workload(
        "Deployment", template={"metadata": {"labels": {}}, "spec": {"containers": [GOOD]}}),
    "a template without labels": workload("Deployment", template={"spec": {"containers": [GOOD]}}),
    "a workload without a template": workload("Deployment", template={}),
    "angle brackets": pod(metadata={"name": "a<b>&c"}),
    "angle brackets in a resource's name": pod(container={"resources": {"requests": {"<a>": "1"}}}),
    "an owner without uid": pod(metadata={"ownerReferences": [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a"}]}),
    "two owners that control": pod(metadata={"ownerReferences": [
        {"apiVersion": "v1", "kind": "A", "name": name, "uid": name, "controller": True} for name in "ab"]}),
    "a mount without its volume": pod(container={"volumeMounts": [{"name": "v", "mountPath": "/v"}]}),
    "a field that is not named": pod(container={"env": [{"name": "A", "valueFrom": {"fieldRef": {}}}]}),
    "a spread that says nothing": pod(topologySpreadConstraints=[{}]),
    "a spread without its action": pod(topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone"}]),
    "an exported job": workload("Job", template=JOB, selector={"matchLabels": {"controller-uid": "an-old-one"}}),
    "a job with a selector of its own": workload("Job", template=JOB, manualSelector=True,
                                                 selector={"matchLabels": {"controller-uid": "an-old-one"}}),
    "a port's name twice": pod(container={"ports": [{"name": "http", "containerPort": port} for port in (80, 81)]}),
    "a port's name in two containers": workload("Deployment", template={
        "metadata": {"labels": LABELS},
        "spec": {"containers": [{"name": name, "image": "i", "ports": [{"name": "http", "containerPort": port}]}
                                for name, port in (("a", 80), ("b", 81))]}}),
    "annotations that fields replaced": pod(metadata={"annotations": {
        "scheduler.alpha.kubernetes.io/critical-pod": "", "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
        "container.apparmor.security.beta.kubernetes.io/c": "runtime/default",
        "container.seccomp.security.alpha.kubernetes.io/c": "runtime/default"}}),
    "annotations of a template that fields replaced": workload("DaemonSet", template={
        "metadata": {"labels": LABELS, "annotations": {
            "container.apparmor.security.beta.kubernetes.io/c": "localhost/a",
            "seccomp.security.alpha.kubernetes.io/pod": "docker/default"}},
        "spec": {"containers": [GOOD]}}),
    "an AppArmor annotation of no container": pod(metadata={"annotations": {
        "container.apparmor.security.beta.kubernetes.io/d": "custom"}}),
    "volumes that are gone": pod(volumes=[{"name": "a", "cephfs": {"monitors": ["a"]}},
                                          {"name": "b", "gitRepo": {"repository": "r"}}]),
    "a service account with a bad name": pod(serviceAccountName="A b"),
    "a policy for failure that repeats itself": failing([
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3, 1, 1, 0], "containerName": "z"}}]),
    "a policy for failure without a condition": failing([{"action": "X"}, {"onPodConditions": [{"type": "a b"}]}]),
    "a policy for failure of indexes": failing([
        {"action": "FailIndex", "onPodConditions": [{"type": "A", "status": "X"}],
         "onExitCodes": {"operator": "Is", "values": []}}] * 21),
    "a policy for success out of range": succeeding([{"succeededIndexes": "1-5"}, {"succeededCount": 9}]),
    "a policy for success out of order": succeeding([{"succeededIndexes": "2,1"}, {"succeededIndexes": "1-1"}]),
    "a policy for success that is none": succeeding([{}, {"succeededIndexes": "a"}, {"succeededIndexes": "0-1-2"},
                                                     {"succeededIndexes": "0-1", "succeededCount": 3}]),
    "a policy for success without rules": succeeding([]),
    "a service by an old name of closeness": service(trafficDistribution="PreferClose"),
    "a headless service with an affinity": service(clusterIP="None", sessionAffinity="ClientIP"),
    "a service with addresses from outside": service(externalIPs=["1.2.3.4"], externalName="a.b"),
    "a service with an annotation that was replaced": {
        **service(), "metadata": {"name": "s", "annotations": {"service.kubernetes.io/topology-aware-hints": "auto"}}},
}  # fmt: skip


@pytest.mark.parametrize("what", FOUND)
def test_what_attack_and_corpus_found(asking: Asking, space: str, what: str) -> None:
    assert not judge(asking, space, FOUND[what], policies_of((), (), (), ()), SERVER)
