"""Answers of a real API server (v1.36.3) to hand-written requests that the engine once had wrong."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.create import create
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.admission.request.update import update
from kubectl_kres.admission.resize import resize
from kubectl_kres.model.objects import ManagedMetadata, PriorityClass
from kubectl_kres.model.pod import Pod

HIGH = PriorityClass(ManagedMetadata(name="high"), 1000)
POLICIES = policies_of([], [], [HIGH], [])
BROUGHT = "must not be provided in pod spec; priority admission controller computed"
GIVEN = "from the given PriorityClass name"
SECONDS = "must be between 1 and 2147483647, inclusive"
OVER = 'Invalid value: "2": must be less than or equal to cpu limit of 1'
TEMPLATE = "spec.template.spec.containers[0].resources"
NULL = "a null labelSelector results in matching no pod"
MOVED = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
BETA = "volume.beta.kubernetes.io/storage-class"


def pod(*, container: Any = None, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i", **(container or {})}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers, **spec}}


def workload(resources: Any, kind: str = "Deployment", version: str = "apps/v1") -> dict[str, Any]:
    labels, policy = {"app": "d"}, {"restartPolicy": "Never"} if kind == "CronJob" else {}
    template = {"metadata": {"labels": labels}, "spec": pod(container={"resources": resources}, **policy)["spec"]}
    spec: dict[str, Any] = {"selector": {"matchLabels": labels}, "template": template}
    if kind == "CronJob":
        spec = {"schedule": "@daily", "jobTemplate": {"spec": {"template": template}}}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "d"}, "spec": spec}


def claim(size: str = "2Gi", *, annotation: str = "", **spec: Any) -> dict[str, Any]:
    metadata = {"name": "d", **({"annotations": {BETA: annotation}} if annotation else {})}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}
    status = {"phase": "Bound", "capacity": {"storage": "2Gi"}}
    kind = "PersistentVolumeClaim"
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def quota(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": spec}


REFUSED = [
    (pod(priority=5), 403, f'pods "p" is forbidden: the integer value of priority (5) {BROUGHT} 0 {GIVEN}'),
    (
        pod(priorityClassName="high", priority=1),
        403,
        f'pods "p" is forbidden: the integer value of priority (1) {BROUGHT} 1000 {GIVEN}',
    ),
    (
        pod(priorityClassName="high", preemptionPolicy="Never"),
        403,
        f'pods "p" is forbidden: the string value of PreemptionPolicy (Never) {BROUGHT} PreemptLowerPriority {GIVEN}',
    ),
    (
        pod(activeDeadlineSeconds=0),
        422,
        f'Pod "p" is invalid: spec.activeDeadlineSeconds: Invalid value: 0: {SECONDS}',
    ),
    (
        pod(restartPolicy="Sometimes"),
        422,
        (
            'Pod "p" is invalid: spec.restartPolicy: Unsupported value: "Sometimes": '
            'supported values: "Always", "OnFailure", "Never"'
        ),
    ),
    (
        pod(container={"restartPolicy": "Sometimes"}),
        422,
        (
            'Pod "p" is invalid: spec.containers[0].restartPolicy: Unsupported value: "Sometimes": '
            'supported values: "Always", "Never", "OnFailure"'
        ),
    ),
    (
        pod(os={"name": "x"}),
        422,
        'Pod "p" is invalid: spec.os: Unsupported value: "x": supported values: "linux", "windows"',
    ),
    (pod(container={"image": ""}), 422, 'Pod "p" is invalid: spec.containers[0].image: Required value'),
    (
        pod(ephemeralContainers=[{"name": "e", "image": "i", "resources": {"limits": {"cpu": "1"}}}]),
        422,
        (
            'Pod "p" is invalid: [spec.ephemeralContainers: Forbidden: cannot be set on create, '
            "spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container]"
        ),
    ),
    (
        workload({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
        422,
        f'Deployment.apps "d" is invalid: {TEMPLATE}.requests: {OVER}',
    ),
    (
        workload({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}, "CronJob", "batch/v1"),
        422,
        f'CronJob.batch "d" is invalid: spec.jobTemplate.{TEMPLATE}.requests: {OVER}',
    ),
    (
        workload({"limits": {"cpu": "1K"}}, "Job", "batch/v1"),
        400,
        'Job in version "v1" cannot be handled as a Job: unable to parse quantity\'s suffix',
    ),
]


@pytest.mark.parametrize(("sent", "code", "message"), REFUSED)
def test_refused(sent: dict[str, Any], code: int, message: str) -> None:
    assert [(one.code, one.message) for one in create(sent, POLICIES, Server())] == [(code, message)]


@pytest.mark.parametrize(
    "sent",
    [pod(priority=0), pod(priorityClassName="high", priority=1000, preemptionPolicy="PreemptLowerPriority"),
     pod(priorityClassName="system-node-critical", priority=2000001000)],
)  # fmt: skip
def test_a_priority_that_its_class_gives_may_be_brought(sent: dict[str, Any]) -> None:
    assert [one.code for one in create(sent, POLICIES, Server())] == [201]


def ports(*numbers: int, **more: Any) -> dict[str, Any]:
    return {"ports": [{"containerPort": number, **more} for number in numbers]}


def term(**more: Any) -> dict[str, Any]:
    return {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", **more}]}


def preferred(**more: Any) -> dict[str, Any]:
    weighted = {"weight": 1, "podAffinityTerm": {"topologyKey": "zone", **more}}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}


SPREAD = {"maxSkew": 1, "topologyKey": "failure-domain.beta.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}
ARCH = {"matchExpressions": [{"key": "beta.kubernetes.io/arch", "operator": "Exists"}]}
VOLUME = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1.5"}}}
FRACTION = "is invalid, must be an integer"

WARNED = [
    (
        pod(affinity={"podAffinity": term(), "podAntiAffinity": preferred()}),
        [
            f"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: {NULL}",
            (
                "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm."
                f"labelSelector: {NULL}"
            ),
        ],
    ),
    (pod(affinity={"podAffinity": term(labelSelector={}), "podAntiAffinity": preferred(labelSelector={})}), []),
    (
        pod(topologySpreadConstraints=[SPREAD]),
        [
            f"spec.topologySpreadConstraints[0].labelSelector: {NULL}",
            (
                "spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated "
                'since v1.17; use "topology.kubernetes.io/zone" instead'
            ),
        ],
    ),
    (
        pod(
            affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [ARCH]}}}
        ),
        [
            (
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
                "matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; "
                'use "kubernetes.io/arch" instead'
            )
        ],
    ),
    (
        pod(nodeSelector={"beta.kubernetes.io/os": "linux"}),
        ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
    ),
    (
        pod(hostAliases=[{"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}], imagePullSecrets=[{"name": "a"}, {"name": "a"}, {}]),
        [
            'spec.hostAliases[1].ip: duplicate ip "10.0.0.1"',
            'spec.imagePullSecrets[1].name: duplicate name "a"',
            'spec.imagePullSecrets[2].name: invalid empty name ""',
        ],
    ),
    (
        pod(volumes=[{"name": "v", "gitRepo": {"repository": "x"}}]),
        ["spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"],
    ),
    (
        pod(volumes=[{"name": "v", "storageos": {"volumeName": "x"}}]),
        ["spec.volumes[0].storageOS: deprecated in v1.22, non-functional in v1.25+"],
    ),
    (
        pod(volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": VOLUME}}}]),
        [
            (
                "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: "
                f'fractional byte value "1500m" {FRACTION}'
            )
        ],
    ),
    (
        pod(container=ports(80, 80)),
        ["spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"],
    ),
    (
        pod(container=ports(80, hostIP="10.0.0.1")),
        [
            (
                "spec.containers[0].ports[0]: hostIP set without hostPort: "
                "{Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:10.0.0.1}"
            )
        ],
    ),
    (
        pod(container=ports(80, name="a"), initContainers=[{"name": "i", "image": "i", **ports(81, name="a")}]),
        [
            (
                'spec.containers[0].ports[0]: duplicate port name "a" with spec.initContainers[0].ports[0], '
                "services and probes that select ports by name will use spec.initContainers[0].ports[0]"
            )
        ],
    ),
    (
        workload({"requests": {"memory": "100m"}}),
        [f'{TEMPLATE}.requests[memory]: fractional byte value "100m" {FRACTION}'],
    ),
]


@pytest.mark.parametrize(("sent", "warnings"), WARNED)
def test_warned(sent: dict[str, Any], warnings: list[str]) -> None:
    (outcome,) = create(sent, POLICIES, Server())
    assert (outcome.allowed, sorted(outcome.warnings)) == (True, warnings)


@pytest.mark.parametrize(
    ("selector", "shown"),
    [
        ({}, {}),
        ({"matchExpressions": []}, {}),
        (
            {"matchExpressions": [{"scopeName": "BestEffort", "operator": "Exists", "values": []}]},
            {"matchExpressions": [{"scopeName": "BestEffort", "operator": "Exists"}]},
        ),
    ],
)
def test_a_scope_selector_is_stored_without_what_is_empty(selector: Any, shown: Any) -> None:
    (outcome,) = create(quota(hard={"pods": "1"}, scopeSelector=selector, more="x"), POLICIES, Server())
    assert outcome.object is not None
    assert outcome.object["spec"] == {"hard": {"pods": "1"}, "scopeSelector": shown}


IMMUTABLE = f"spec: Forbidden: {MOVED}"
SHRUNK = "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"

CLAIMS = [
    (claim(volumeName="a"), claim(volumeName="b"), IMMUTABLE),
    (claim(), claim(volumeName="b"), ""),
    (claim(), claim(resources={"requests": {"storage": "2Gi"}, "limits": {"storage": "3Gi"}}), IMMUTABLE),
    (claim(), claim("0"), f'[{SHRUNK}, spec.resources[storage]: Invalid value: "0": must be greater than zero]'),
    (
        claim(storageClassName="gold"),
        claim(storageClassName="gold", annotation="bronze"),
        f'metadata.annotations.{BETA}: Invalid value: "bronze": field is immutable',
    ),
    (claim(annotation="gold"), claim(storageClassName="gold"), ""),
]


@pytest.mark.parametrize(("old", "new", "text"), CLAIMS)
def test_what_an_update_of_a_claim_may_change(old: dict[str, Any], new: dict[str, Any], text: str) -> None:
    (outcome,) = update(old, new, POLICIES, Server())
    assert outcome.message == (f'PersistentVolumeClaim "d" is invalid: {text}' if text else "")


@pytest.mark.parametrize(("before", "after", "code"), [(-1, 1, 200), (-1, 2, 422), (30, 1, 422), (30, 30, 200)])
def test_only_a_negative_grace_period_is_corrected(before: int, after: int, code: int) -> None:
    old, new = (pod(terminationGracePeriodSeconds=seconds) for seconds in (before, after))
    assert [one.code for one in update(old, new, POLICIES, Server())] == [code]


def test_what_an_older_server_drops() -> None:
    old = Server(version=(1, 33))
    policy = [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]
    init = {"name": "i", "image": "i", "restartPolicy": "Never", "resizePolicy": policy}
    (outcome,) = create(pod(container={"restartPolicy": "Never"}, initContainers=[init]), POLICIES, old)
    assert outcome.object is not None
    assert outcome.object["spec"]["containers"] == [{"name": "c"}]
    assert outcome.object["spec"]["initContainers"] == [{"name": "i", "resizePolicy": policy}]
    (outcome,) = create(claim(volumeAttributesClassName="fast"), POLICIES, old)
    assert outcome.object is not None
    assert "volumeAttributesClassName" not in outcome.object["spec"]


def test_a_resize_that_renames_keeps_the_pod_level_where_it_is_not_resized() -> None:
    """Else the class would seem to change, too."""
    level = {side: {"cpu": "1", "memory": "1Gi"} for side in ("limits", "requests")}
    stored = pod(resources=level, initContainers=[{"name": "i", "image": "i"}]) | {"status": {"qosClass": "Guaranteed"}}
    sent = pod(resources={}, initContainers=[{"name": "other", "image": "i"}])
    old, new = (msgspec.convert(one, Pod) for one in (stored, sent))
    (outcome,) = resize(old, new, POLICIES, Server(version=(1, 35)))
    assert outcome.message == (
        'Pod "p" is invalid: []: Forbidden: resize of pods with pod-level resources is forbidden when '
        "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"
    )


def test_claims_are_dropped_where_there_is_no_dynamic_allocation() -> None:
    sent = pod(container={"resources": {"claims": [{"name": "nobody"}], "requests": {"cpu": "1"}}})
    (outcome,) = create(sent, POLICIES, Server(version=(1, 33)))
    assert outcome.object is not None
    assert outcome.object["spec"]["containers"] == [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
