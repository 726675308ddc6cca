"""What Kubernetes 1.37 answers otherwise than 1.36, as both servers answered when asked; the vectors hold more."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from admission.samples import container, limit_range, one, pod, policies, quota, values

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.base.versions import binary, version_caveat
from kubectl_kres.admission.kubelet import Cgroup, KubeletNode, cgroups
from kubectl_kres.admission.pod.aggregate import compute_class
from kubectl_kres.admission.quota.quota_admission import pod_request
from kubectl_kres.admission.request.create import create
from kubectl_kres.admission.request.new_pod import policies_of
from kubectl_kres.admission.request.update import update
from kubectl_kres.admission.resize import resize
from kubectl_kres.model.pod import Pod
from kubectl_kres.simulate.controllers import delete_replaced_pods
from kubectl_kres.simulate.replicas import Replica
from kubectl_kres.simulate.state import StatefulSetState

OLD, NEW = Server((1, 36)), Server((1, 37))
SMALL = container(limits={"memory": "64Mi"})


def _pod(raw: dict[str, Any]) -> Pod:
    return msgspec.convert(raw, Pod)


def level(outcome: Any, side: str) -> dict[str, str]:
    """What is stored at the pod level."""
    return outcome.object["spec"].get("resources", {}).get(side, {})


def test_pod_level_requests_are_filled_in_after_limit_ranges():
    ranges = [limit_range("l", {"default": {"cpu": "500m"}, "defaultRequest": {"cpu": "100m"}})]
    given = pod(container("a"), container("b"), resources={"limits": {"cpu": "1"}})
    assert level(one(given, policies(ranges), OLD), "requests") == {"cpu": "1"}
    assert level(one(given, policies(ranges), NEW), "requests") == {"cpu": "200m"}


def test_pod_level_requests_alone_are_completed():
    given = pod(container(requests={"memory": "10Mi"}), resources={"requests": {"cpu": "1"}})
    assert level(one(given, server=OLD), "requests") == {"cpu": "1"}
    assert level(one(given, server=NEW), "requests") == {"cpu": "1", "memory": "10Mi"}


@pytest.mark.parametrize(
    ("request_", "limits", "found"),
    [
        ("1Gi", ["64Mi"], {"memory": "1Gi"}),
        ("128Mi", ["100Mi", "100Mi"], {"memory": "200Mi"}),
        ("1Gi", ["64Mi", None], {}),
    ],
)
def test_a_pod_level_limit_where_every_container_has_one(
    request_: str, limits: list[str | None], found: dict[str, str]
):
    boxes = [
        container(f"c{index}", requests={"memory": "1Mi"}, limits={"memory": limit} if limit else {})
        for index, limit in enumerate(limits)
    ]
    given = pod(*boxes, resources={"requests": {"memory": request_}})
    assert level(one(given, server=OLD), "limits") == {}
    outcome = one(given, server=NEW)
    assert level(outcome, "limits") == found
    rules = {entry.rule for entry in outcome.journal if getattr(entry, "path", "") == "spec.resources.limits[memory]"}
    wanted = "pod-level/limit-from-request" if request_ == "1Gi" else "pod-level/limit-from-containers"
    assert rules == ({wanted} if found else set())


def test_the_limit_counts_for_quotas():
    given = pod(SMALL, resources={"requests": {"memory": "1Gi"}})
    bound = policies([], [quota("q", {"limits.memory": "512Mi"})])
    assert one(given, bound, OLD).allowed
    assert "exceeded quota: q, requested: limits.memory=1Gi" in one(given, bound, NEW).message


def test_the_gate_keeps_the_old_defaults():
    given = pod(SMALL, resources={"requests": {"memory": "1Gi"}})
    off = Server((1, 37), {"PodLevelResourcesFixDefaulting": False})
    assert values(one(given, server=off)) == values(one(given, server=OLD))


def test_the_class_of_an_empty_pod_level():
    given = pod(container(limits={"cpu": "1", "memory": "1Gi"}), resources={})
    assert [compute_class(one(given, server=server).draft) for server in (OLD, NEW)] == ["BestEffort", "Guaranteed"]


@pytest.mark.parametrize(("limits", "requests"), [({"cpu": "-1Gi"}, {}), ({"cpu": "-1"}, {"cpu": "-1"})])
def test_a_resize_to_negative_values_changes_the_class(limits: dict[str, str], requests: dict[str, str]):
    """Up to 1.36 they do not count: then the refusal does not name the class."""
    stored = pod(container())
    sent = pod(container(limits=limits, requests=requests))
    said = [resize(stored, sent, policies(), server)[0].message for server in (OLD, NEW)]
    assert ["Pod QOS Class may not change" in text for text in said] == [False, True]


@pytest.mark.parametrize(
    ("server", "stored"),
    [(OLD, "Guaranteed"), (NEW, "BestEffort"), (Server((1, 34), binary=(1, 37)), "BestEffort"),
     (Server((1, 34)), "Guaranteed")],
)  # fmt: skip
def test_a_class_in_the_request(server: Server, stored: str):
    raw = sent_pod() | {"status": {"qosClass": "Guaranteed"}}
    (outcome,) = create(raw, policies_of([], []), server)
    assert outcome.object["status"]["qosClass"] == stored


def sent_pod(**spec: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}], **spec}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": spec}


def test_which_version_a_server_that_emulates_is():
    assert (binary("v1.37.2 (emulates 1.34)"), binary("v1.37.2"), binary("")) == ((1, 37), None, None)
    assert version_caveat("v1.37.2") == ""
    assert version_caveat("v1.41.0").endswith("messages and cgroup files")


def resized(a: str, b: str, *, reason: str = "") -> Any:
    """Two containers of 1 and 2 cpu that were resized to ``a`` and ``b``; their statuses are those before."""
    boxes = [
        {"name": name, "image": "i", "resources": {"requests": {"cpu": cpu}}} for name, cpu in (("a", a), ("b", b))
    ]
    old = [
        {"name": name, "allocatedResources": {"cpu": cpu}, "resources": {"requests": {"cpu": cpu}}}
        for name, cpu in (("a", "1"), ("b", "2"))
    ]
    conditions = [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else []
    status = {"phase": "Running", "containerStatuses": old, "conditions": conditions}
    return _pod({"metadata": {"name": "p"}, "spec": {"containers": boxes}, "status": status})


@pytest.mark.parametrize(
    ("given", "old", "new"),
    [(resized("2", "1"), "4", "3"), (resized("3", "1"), "5", "4"), (resized("9", "9", reason="Infeasible"), "3", "3")],
)
def test_what_counts_during_a_resize(given: Any, old: str, new: str):
    counted = [str(pod_request(given, server).usage["requests.cpu"]) for server in (OLD, NEW)]
    assert counted == [old, new]


@pytest.mark.parametrize("send", ["update", "resize"])
def test_a_request_that_leaves_the_pod_level_out(send: str):
    stored = {"metadata": {"name": "p"}, "kind": "Pod", "apiVersion": "v1",
              "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
                       "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}}}  # fmt: skip
    sent = {**stored, "spec": {key: value for key, value in stored["spec"].items() if key != "resources"}}
    codes = []
    for server in (OLD, NEW):
        if send == "update":
            (outcome,) = update(stored, sent, policies_of([], []), server)
        else:
            (outcome,) = resize(_pod(stored), _pod(sent), policies_of([], []), server)
        codes.append(outcome.code)
    assert codes == [422, 200]


def workload(kind: str, spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}], **more}}
    selector = {"selector": {"matchLabels": {"a": "b"}}}
    return {
        "kind": kind,
        "apiVersion": "apps/v1",
        "metadata": {"name": "w"},
        "spec": {**selector, "template": template, **spec},
    }


def answers(raw: dict[str, Any]) -> list[tuple[int, str]]:
    outcomes = [create(raw, policies_of([], []), server) for server in (OLD, NEW)]
    return [(outcome.code, outcome.message) for (outcome,) in outcomes]


def test_an_image_volume_without_reference_in_a_template():
    raw = workload("Deployment", {}, volumes=[{"name": "v", "image": {"pullPolicy": "Always"}}])
    old, new = answers(raw)
    assert old == (201, "")
    assert new[1] == 'Deployment.apps "w" is invalid: spec.template.spec.volumes[0].image.reference: Required value'


def test_projected_bundles():
    sources = [{"clusterTrustBundle": {"name": "x", "path": "p"}}]
    raw = sent_pod(volumes=[{"name": "v", "projected": {"sources": sources}}])
    warned = [create(raw, policies_of([], []), server)[0].warnings for server in (OLD, NEW)]
    assert warned == [('volume "v" (Projected) has no sources provided',), ()]


def autoscaler(**spec: Any) -> dict[str, Any]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    metrics = [{"type": "External", "external": {"metric": {"name": "q"}, "target": {"type": "Value", "value": "3"}}}]
    return {"kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v2", "metadata": {"name": "e"},
            "spec": {"scaleTargetRef": target, "metrics": metrics, **spec}}  # fmt: skip


def test_an_autoscaler_that_scales_to_zero():
    old, new = answers(autoscaler(minReplicas=0, maxReplicas=3))
    assert old[1].endswith("spec.minReplicas: Invalid value: 0: must be greater than or equal to 1")
    assert new[0] == 201
    assert [code for code, _ in answers(autoscaler(minReplicas=2, maxReplicas=1))] == [422, 422]
    assert "spec.metrics: Forbidden" in answers(autoscaler(minReplicas=0, maxReplicas=3, metrics=[]))[1][1]


def test_a_share_of_a_stateful_set():
    raw = workload("StatefulSet", {"serviceName": "w", "updateStrategy": {"rollingUpdate": {"maxUnavailable": 0}}})
    old, new = answers(raw)
    assert old[0] == 201
    assert "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0" in new[1]


def test_a_stateful_set_takes_down_as_many_as_may_be_away():
    pods = tuple(Replica(ordinal, 0, 0, True) for ordinal in range(4))
    state = StatefulSetState("w", 1, 0, 4, pods=pods)
    gone = [delete_replaced_pods(state._replace(unavailable=share)) for share in (None, 1, 3)]
    assert [[ordinal for row in new.pods for ordinal in row.ordinals] for new in gone if new] == [
        [0, 1, 2],
        [0, 1, 2],
        [0],
    ]


def test_causes_are_listed_once():
    boxes = [container(limits={}, requests={"example.com/a": "1", "example.com/b": "1"})]
    causes = [len(one(pod(*boxes), server=server).causes) for server in (OLD, NEW)]
    assert causes == [2, 1]


def files(given: Any, server: Server, **machine: Any) -> dict[str, dict[str, str]]:
    draft = one(given, server=server).draft
    root = cgroups(draft, compute_class(draft), KubeletNode(**machine))
    found: dict[str, dict[str, str]] = {}

    def look(group: Cgroup) -> None:
        found[group.name if group.kind == "container" else group.kind] = {
            value.file: value.value
            for value in group.values
            if value.file.startswith("memory.") and value.file != "memory.max"
        }
        for child in group.children:
            look(child)

    look(root)
    return found


def test_the_memory_files_that_a_kubelet_writes():
    given = pod(container("c", requests={"memory": "64Mi"}), resources={"limits": {"memory": "128Mi"}})
    assert files(given, OLD)["c"] == {}
    assert files(given, NEW)["c"] == {"memory.min": "0", "memory.low": "0"}
    throttled = files(given, NEW, throttling=0.9)
    high = int((64 + 64 * 0.9) * 2**20 // 4096 * 4096)
    assert (throttled["pod"], throttled["c"]) == ({"memory.high": str(high)}, {"memory.min": "0", "memory.low": "0"})
    assert files(given, NEW, memory_qos=False)["c"] == {"memory.high": "max"}


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"serviceName": "other"}, ["spec.serviceName"]),
        ({"podManagementPolicy": "Parallel"}, ["spec.podManagementPolicy"]),
        ({"volumeClaimTemplates": None}, ["spec.volumeClaimTemplates"]),
        (
            {"podManagementPolicy": "Parallel", "serviceName": "other", "volumeClaimTemplates": []},
            ["spec.volumeClaimTemplates", "spec.serviceName", "spec.podManagementPolicy"],
        ),
        ({"revisionHistoryLimit": 3, "replicas": 2, "minReadySeconds": 4}, []),
        ({"revisionHistoryLimit": 3, "serviceName": "other"}, ["spec.serviceName"]),
    ],
)
def test_what_a_stateful_set_keeps_is_refused_field_by_field(change: dict[str, Any], fields: list[str]):
    claim = {"metadata": {"name": "d"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    spec = {
        "serviceName": "s", "podManagementPolicy": "OrderedReady", "selector": {"matchLabels": {"app": "s"}},
        "template": {"metadata": {"labels": {"app": "s"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        "volumeClaimTemplates": [claim],
    }  # fmt: skip
    stored = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "s"}, "spec": spec}
    sent = {**stored, "spec": {**spec, **change}}
    (old,), (new,) = (update(stored, sent, policies_of([], []), server) for server in (OLD, NEW))
    assert sorted(cause.field for cause in new.causes) == sorted(fields)
    assert (old.code, new.code) == ((422, 422) if fields else (200, 200))
    assert [cause.field for cause in old.causes] == ["spec"] * bool(fields)
    if fields == ["spec.serviceName"]:
        fault = 'spec.serviceName: Invalid value: "other": field is immutable'
        assert new.message == f'StatefulSet.apps "s" is invalid: {fault}'
