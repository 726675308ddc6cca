"""The resize subresource. Answers are those of an API server v1.36.3, seen while this was written."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_kres.admission.base.outcome import Outcome
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.request.new_pod import Policies, policies_of
from kubectl_kres.admission.resize import changes, resize
from kubectl_kres.model.objects import LimitRange, ResourceQuota
from kubectl_kres.model.pod import Node, Pod
from kubectl_kres.provenance.journal import Assumption

SERVER = Server((1, 36))
ONLY = "spec: Forbidden: only cpu and memory resources are mutable"
CLASS = "Pod QOS Class may not change as a result of resizing"


def container(requests: dict | None = None, limits: dict | None = None, name: str = "c", **more: Any) -> dict[str, Any]:
    return {"name": name, "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def pod(*containers: dict[str, Any], status: dict | None = None, metadata: dict | None = None, **spec: Any) -> Pod:
    raw = {
        "metadata": {"name": "p", **(metadata or {})},
        "spec": {"containers": containers, **spec},
        "status": status or {},
    }
    return msgspec.convert(raw, Pod)


def ask(old: Pod, new: Pod, policies: Policies | None = None, server: Server = SERVER, **more: Any) -> Outcome:
    (outcome,) = resize(old, new, policies or Policies(), server, **more)
    return outcome


def limits(**item: Any) -> LimitRange:
    return msgspec.convert({"metadata": {"name": "l"}, "spec": {"limits": [{"type": "Container", **item}]}}, LimitRange)


def quota(hard: dict[str, str], used: dict[str, str]) -> ResourceQuota:
    raw = {"metadata": {"name": "q"}, "spec": {"hard": hard}, "status": {"hard": hard, "used": used}}
    return msgspec.convert(raw, ResourceQuota)


INIT = "spec.initContainers[0]"
INIT_ONLY = f"{INIT}: Forbidden: only cpu and memory resources for init or sidecar containers are mutable"
INIT_RESTART = (
    f"{INIT}: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
)
INIT_POLICY = (
    f'{INIT}.resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": '
    "must not be set to 'RestartContainer' for non-sidecar initContainers"
)
ROOM = (
    "node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000; "
    "memory, requested: 2147483648, allocatable: 1073741824"
)

CPU1, CPU2 = container({"cpu": "1"}), container({"cpu": "2"})
BURSTABLE = {"requests": {"cpu": "500m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}}
RESTART = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
CLAIM = {"resourceClaims": [{"name": "g"}]}
CLAIMED = {"name": "c", "resources": {"requests": {"cpu": "1"}, "claims": [{"name": "g"}]}}
RUNNING = {"phase": "Running", "containerStatuses": [{"name": "c", "state": {"running": {}}}]}
LEVEL = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}}


@pytest.mark.parametrize(
    ("old", "new", "errors"),
    [
        pytest.param(pod(CPU1), pod(CPU2), [], id="larger"),
        pytest.param(pod(CPU2), pod(CPU1), [], id="smaller"),
        pytest.param(pod(CPU1), pod(CPU1), [], id="nothing"),
        pytest.param(
            pod(container({"cpu": "1"}, resizePolicy=RESTART)),
            pod(container({"cpu": "2"}, resizePolicy=RESTART)),
            [],
            id="policy-kept",
        ),
        pytest.param(pod(CPU1), pod(container({"cpu": "1"}, resizePolicy=RESTART)), [ONLY], id="policy-changed"),
        pytest.param(pod(CLAIMED, **CLAIM), pod(CLAIMED, **CLAIM), [ONLY], id="claims-are-compared-as-if-lost"),
        pytest.param(pod(CPU1), pod(container({"cpu": "1"}, name="d")), [
            "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize",
        ], id="renamed"),
        pytest.param(pod(CPU1, container(name="d")), pod(CPU1), [
            "spec.containers: Forbidden: containers may not be added or removed on resize",
        ], id="container-removed"),
        pytest.param(pod(CPU1, initContainers=[container(name="i")]), pod(CPU1), [
            "spec.initContainers: Forbidden: initContainers may not be added or removed on resize",
        ], id="init-container-removed"),
        pytest.param(
            pod(CPU1, initContainers=[container({"cpu": "1"}, name="i")]),
            pod(CPU1, initContainers=[container({"cpu": "2"}, name="i")]),
            [],
            id="init-container",
        ),
        pytest.param(
            pod(CPU1, initContainers=[container({"cpu": "1", "ephemeral-storage": "1Gi"}, name="i")]),
            pod(CPU1, initContainers=[container({"cpu": "1", "ephemeral-storage": "2Gi"}, name="i")]),
            [INIT_ONLY],
            id="init-container-storage",
        ),
        pytest.param(
            pod(CPU1, initContainers=[container({"cpu": "1"}, name="i")]),
            pod(CPU1, initContainers=[container({"cpu": "2"}, name="i", resizePolicy=RESTART)]),
            [INIT_ONLY, INIT_POLICY, INIT_RESTART],
            id="init-container-policy",
        ),
        pytest.param(pod(container({"cpu": "1", "memory": "1Gi"})), pod(CPU1), [
            "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
        ], id="request-removed"),
        pytest.param(pod(container({"cpu": "1"}, {"cpu": "1"})), pod(CPU1), [
            "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed",
        ], id="limit-removed"),
        pytest.param(pod(container()), pod(CPU1), [f'spec: Invalid value: "": {CLASS}'], id="class-without-status"),
        pytest.param(pod(container(), status={"qosClass": "BestEffort"}), pod(CPU1), [
            f'spec: Invalid value: "BestEffort": {CLASS}',
        ], id="class"),
        pytest.param(
            pod(container(**BURSTABLE), status={"qosClass": "Burstable"}),
            pod(container(limits=BURSTABLE["limits"])),
            [f'spec: Invalid value: "Burstable": {CLASS}'],
            id="requests-follow-limits-as-sent",
        ),
        pytest.param(pod(CPU1, os={"name": "windows"}), pod(container({"cpu": "-2"})), [
            "[]: Forbidden: windows pods cannot be resized",
        ], id="windows-hides-the-rest"),
        pytest.param(pod(CPU1, metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}), pod(CPU2), [
            "[]: Forbidden: static pods cannot be resized",
        ], id="static"),
        pytest.param(pod(CPU1, status=RUNNING), pod(CPU2), [
            "spec: Forbidden: Pod running on node without support for resize",
        ], id="old-kubelet"),
        pytest.param(
            pod(container(), resources=LEVEL),
            pod(container(), resources={**LEVEL, "requests": {"cpu": "1"}}),
            [],
            id="pod-level-request-follows-limit",
        ),
        pytest.param(pod(container(), resources={"requests": LEVEL["requests"]}),
                     pod(container(), resources={"requests": {"cpu": "1"}}), [
            "spec.resources.requests: Forbidden: pod-level resource requests cannot be removed",
        ], id="pod-level-request-removed"),
        pytest.param(pod(CPU1, resources=LEVEL), pod(CPU1), [
            "spec.resources: Forbidden: pod-level resources cannot be removed",
        ], id="pod-level-removed"),
        pytest.param(pod(container()), pod(container(), resources={}), [ONLY], id="pod-level-emptied"),
        pytest.param(
            pod(container(), resources={"limits": {"cpu": "1", "hugepages-2Mi": "2Mi"}}),
            pod(container(), resources={"limits": {"cpu": "1", "hugepages-2Mi": "4Mi"}}),
            [f"{ONLY} at pod-level"],
            id="pod-level-huge-pages",
        ),
    ],
)  # fmt: skip
def test_what_may_change(old: Pod, new: Pod, errors: list[str]):
    outcome = ask(old, new)
    assert outcome.code == (422 if errors else 200)
    assert sorted(f"{cause.field}: {cause.message}" for cause in outcome.causes) == sorted(errors)


def test_older_servers():
    old = pod(CPU1, initContainers=[container({"cpu": "1"}, name="i")])
    new = pod(CPU1, initContainers=[container({"cpu": "2"}, name="i")])
    fixed = "spec: Forbidden: resources for non-sidecar init containers are immutable"
    assert ask(old, new, server=Server(version=(1, 33))).message == f'Pod "p" is invalid: {fixed}'
    assert ask(old, new, server=Server(version=(1, 32))).code == 404
    sized = pod(container(), resources=LEVEL)
    assert "[]: Forbidden: resize of pods with pod-level" in ask(sized, sized, server=Server(version=(1, 35))).message


def test_the_rest_is_taken_from_the_stored_pod():
    old = pod(CPU1, metadata={"annotations": {"kubernetes.io/limit-ranger": "old"}}, overhead={"cpu": "250m"})
    new = pod(container({"cpu": "2"}, image="other"), metadata={"annotations": {"kubernetes.io/limit-ranger": "new"}})
    outcome = ask(old, new, policies_of([limits(default={"memory": "64Mi"})], []))
    assert outcome.object == {
        "metadata": {"name": "p", "annotations": {"kubernetes.io/limit-ranger": "old"}},
        "spec": {
            "overhead": {"cpu": "250m"},
            "containers": [
                {"name": "c", "resources": {"limits": {"memory": "64Mi"}, "requests": {"cpu": "2", "memory": "64Mi"}}}
            ],
        },
        "status": {"qosClass": "Burstable"},
    }


def test_each_order_of_limit_ranges():
    ranges = [limits(defaultRequest={"memory": size}) for size in ("32Mi", "64Mi")]
    named = [msgspec.structs.replace(one, metadata=type(one.metadata)(name=str(i))) for i, one in enumerate(ranges)]
    found = resize(pod(CPU1), pod(CPU2), policies_of(named, []), SERVER)
    stored = {one.object["spec"]["containers"][0]["resources"]["requests"]["memory"] for one in found}
    assert stored == {"32Mi", "64Mi"}


def test_limit_ranges_pass_over_a_pod_that_is_being_deleted():
    policies = policies_of([limits(max={"cpu": "1"})], [])
    refused = 'pods "p" is forbidden: maximum cpu usage per Container is 1, but limit is 2'
    sizes = container({"cpu": "1"}, {"cpu": "1"}), container({"cpu": "1"}, {"cpu": "2"})
    assert ask(pod(sizes[0]), pod(sizes[1]), policies).message == refused
    deleted = pod(sizes[0], metadata={"deletionTimestamp": "2026-11-20T03:10:00Z"})
    assert ask(deleted, pod(sizes[1]), policies).allowed


NODE = msgspec.convert({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "2", "memory": "1Gi"}}}, Node)
WINDOWS = msgspec.convert({"metadata": {"name": "n", "labels": {"kubernetes.io/os": "windows"}}}, Node)
BIG = container({"cpu": "3", "memory": "2Gi"})


@pytest.mark.parametrize(
    ("node", "new", "text", "cause"),
    [
        (NODE, container({"cpu": "2", "memory": "1Gi"}), "", ""),
        (NODE, BIG, ROOM, "NodeCapacity"),
        (WINDOWS, BIG, 'pod resize is only supported on linux nodes, node "n" is "windows"', "UnsupportedPlatform"),
        (Node(), BIG, 'node "n" not found', ""),
        (None, BIG, "", ""),
    ],
)  # fmt: skip
def test_the_node(node: Node | None, new: dict[str, Any], text: str, cause: str):
    outcome = ask(pod(container({"cpu": "1", "memory": "1Gi"}), nodeName="n"), pod(new), node=node)
    assert outcome.message == (f'pods "p" is forbidden: {text}' if text else "")
    assert [one.reason for one in outcome.causes] == [cause] * bool(cause)
    supposed = [entry.code for entry in outcome.journal if isinstance(entry, Assumption)]
    assert supposed == (["resize/node-unknown"] if node is None else [])


def test_a_node_is_asked_only_for_a_change():
    full = container({"cpu": "5", "memory": "1Gi"})
    assert ask(pod(full, nodeName="n"), pod(full), node=NODE).allowed


@pytest.mark.parametrize(
    ("status", "new", "after"),
    [
        ({}, "1500m", "2500m"),
        ({}, "500m", None),
        # What the container has, or was promised, is in use already.
        ({"resources": {"requests": {"cpu": "1200m"}}, "allocatedResources": {"cpu": "1300m"}}, "1200m", None),
        ({"resources": {"requests": {"cpu": "1200m"}}, "allocatedResources": {"cpu": "1300m"}}, "1500m", "2200m"),
    ],
)
def test_quota_is_charged_for_what_grows(status: dict[str, Any], new: str, after: str | None):
    old = pod(CPU1, status={"phase": "Running", "containerStatuses": [{"name": "c", **status}] if status else []})
    policies = policies_of([], [quota({"requests.cpu": "3", "pods": "1"}, {"requests.cpu": "2", "pods": "1"})])
    outcome = ask(old, pod(container({"cpu": new})), policies)
    assert [charge.after for charge in outcome.charges] == ([{"requests.cpu": after}] if after else [])


def test_use_is_shown_as_it_is_read_back():
    policies = policies_of([], [quota({"memory": "2Gi"}, {"memory": "128Mi"})])
    outcome = ask(pod(container({"memory": "128Mi"})), pod(container({"memory": "1e9"})), policies)
    assert [charge.after for charge in outcome.charges] == [{"memory": "1G"}]


def test_a_full_quota_refuses():
    policies = policies_of([], [quota({"requests.cpu": "2"}, {"requests.cpu": "2"})])
    refused = ask(pod(CPU1), pod(CPU2), policies)
    assert refused.message == (
        'pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=2, '
        "limited: requests.cpu=2"
    )
    assert ask(pod(CPU2), pod(CPU1), policies).allowed
    assert ask(pod(CPU1), pod(CPU2), policies, Server(disabled_plugins=frozenset({"ResourceQuota"}))).allowed


def test_an_unparsable_quantity_ends_the_request():
    assert ask(pod(CPU1), pod(container({"cpu": "1x"}))).code == 400


def test_which_containers_restart():
    level = {"limits": {"cpu": "2"}, "requests": {"cpu": "2"}}
    old = pod(
        container({"cpu": "500m"}, {"memory": "1Gi"}, "a", resizePolicy=RESTART),
        container({"cpu": "500m"}, name="b"),
        container({"cpu": "100m"}, {"cpu": "1"}, "own", resizePolicy=RESTART),
        resources=level,
    )
    new = pod(
        container({"cpu": "500m", "memory": "1Gi"}, {"memory": "2Gi"}, "a", resizePolicy=RESTART),
        container({"cpu": "600m"}, name="b"),
        container({"cpu": "100m"}, {"cpu": "1"}, "own", resizePolicy=RESTART),
        resources={"limits": {"cpu": "3"}, "requests": {"cpu": "2"}},
    )
    found = changes(old, ask(old, new), SERVER)
    assert [(one.container, one.side, one.resource, one.before, one.after, one.restart) for one in found] == [
        ("a", "limits", "cpu", "2", "3", True),
        ("a", "limits", "memory", "1Gi", "2Gi", False),
        ("b", "requests", "cpu", "500m", "600m", False),
        ("b", "limits", "cpu", "2", "3", False),
    ]
