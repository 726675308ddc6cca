"""What the quota controller counts, writes and looks at again. Verified against a controller manager v1.36.3."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from conformance.controller import counts_again, wakes

from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import count_request, request_of
from kubectl_kres.admission.quota.usage_drift import find_drifts, recount, status_after
from kubectl_kres.model.objects import ResourceQuota
from kubectl_kres.model.pod import Pod
from kubectl_kres.model.quota_objects import PersistentVolumeClaim, ResourceClaim, Service
from kubectl_kres.quantity import parse

SERVER = Server()
NOW = datetime(2026, 11, 20, 3, 10, tzinfo=UTC)


def quota(hard: dict[str, str], used: dict[str, str] | None = None, **spec: Any) -> ResourceQuota:
    status = {"hard": hard, "used": used} if used is not None else {}
    raw = {"metadata": {"name": "q"}, "spec": {"hard": hard, **spec}, "status": status}
    return msgspec.convert(raw, ResourceQuota)


def pod(
    name: str = "p", cpu: str = "1", metadata: dict[str, Any] | None = None, status: Any = None, **spec: Any
) -> Pod:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    raw = {"metadata": {"name": name, **(metadata or {})}, "spec": {"containers": [container], **spec}}
    return msgspec.convert({**raw, "status": status or {}}, Pod)


def pods(*held: Pod) -> dict[str, Any]:
    return {"pods": [request_of(one, SERVER, now=NOW) for one in held]}


def counted(of: ResourceQuota, objects: dict[str, Any], server: Server = SERVER) -> dict[str, str]:
    return {name: str(quantity) for name, quantity in recount(of, objects, server).items()}


def actual(**status: Any) -> dict[str, Any]:
    """The status of a pod whose container reports resources."""
    return {"phase": "Running", "containerStatuses": [{"name": "c", **status}]}


INFEASIBLE = {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]}
MORE = actual(resources={"requests": {"cpu": "1500m"}}, allocatedResources={"cpu": "1700m"})
DELETED = {"deletionTimestamp": "2026-11-20T03:00:00Z", "deletionGracePeriodSeconds": 30}


@pytest.mark.parametrize(
    ("held", "used"),
    [
        pytest.param([], {"count/pods": "0", "pods": "0", "requests.cpu": "0"}, id="none"),
        pytest.param([pod(), pod("q")], {"count/pods": "2", "pods": "2", "requests.cpu": "2"}, id="two"),
        pytest.param(
            [pod(), pod("q", status={"phase": "Failed"}), pod("r", status={"phase": "Succeeded"})],
            {"count/pods": "3", "pods": "1", "requests.cpu": "1"},
            id="finished",
        ),
        pytest.param([pod(metadata=DELETED)], {"count/pods": "1", "pods": "0", "requests.cpu": "0"}, id="overdue"),
        pytest.param(
            [pod(metadata={**DELETED, "deletionGracePeriodSeconds": 700})],
            {"count/pods": "1", "pods": "1", "requests.cpu": "1"},
            id="in-its-grace-period",
        ),
        pytest.param([pod(status=MORE)], {"count/pods": "1", "pods": "1", "requests.cpu": "1700m"}, id="allocated"),
        pytest.param(
            [pod(cpu="3", status={**MORE, **INFEASIBLE})],
            {"count/pods": "1", "pods": "1", "requests.cpu": "1700m"},
            id="infeasible",
        ),
        pytest.param([pod(cpu="3", status=MORE)], {"count/pods": "1", "pods": "1", "requests.cpu": "3"}, id="promised"),
    ],
)
def test_pods(held: list[Pod], used: dict[str, str]):
    assert counted(quota(dict.fromkeys(("count/pods", "pods", "requests.cpu"), "9")), pods(*held)) == used


def test_before_in_place_resize_the_status_of_containers_does_not_count():
    server = Server(version=(1, 32))
    assert counted(quota({"cpu": "9"}), {"pods": [request_of(pod(status=MORE), server)]}, server) == {"cpu": "1"}


def test_scopes_and_kinds():
    scoped = quota({"pods": "9", "configmaps": "9"}, scopes=["Terminating"])
    objects = pods(pod(), pod("t", activeDeadlineSeconds=5)) | {"configmaps": [count_request("configmaps", "a")]}
    assert counted(scoped, objects) == {"pods": "1", "configmaps": "0"}
    claim = {
        "metadata": {"name": "d"},
        "spec": {"resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "g"},
    }
    held = [request_of(msgspec.convert(claim, PersistentVolumeClaim), SERVER)]
    by_class = quota({"requests.storage": "9Gi", "g.storageclass.storage.k8s.io/requests.storage": "9Gi"})
    assert set(counted(by_class, {"persistentvolumeclaims": held}).values()) == {"1Gi"}
    exposed = {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 1}, {"port": 2}]}}
    services = {"services": [request_of(msgspec.convert(exposed, Service), SERVER)]}
    assert counted(quota({"services": "9", "services.nodeports": "9"}), services) == {
        "services": "1",
        "services.nodeports": "2",
    }


@pytest.mark.parametrize(
    ("asked", "devices"),
    [
        ({"exactly": {"deviceClassName": "gpu"}}, 1),
        ({"exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 3}}, 3),
        ({"exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}, 32),
        ({"exactly": {"deviceClassName": "gpu", "allocationMode": "Later", "count": 3}}, 0),
        ({"deviceClassName": "gpu", "count": 2}, 2),
        ({"firstAvailable": [{"deviceClassName": "gpu", "count": n} for n in (2, 4, 3)]}, 4),
    ],
)
def test_devices(asked: dict[str, Any], devices: int):
    raw = {"metadata": {"name": "r"}, "spec": {"devices": {"requests": [{"name": "x", **asked}]}}}
    held = {"resourceclaims.resource.k8s.io": [request_of(msgspec.convert(raw, ResourceClaim), SERVER)]}
    limited = quota({"gpu.deviceclass.resource.k8s.io/devices": "9", "count/resourceclaims.resource.k8s.io": "9"})
    assert counted(limited, held) == dict(zip(limited.spec.hard or {}, (str(devices), "1"), strict=True))


def test_devices_count_for_the_extended_resource_of_their_class():
    raw = {"metadata": {"name": "r"}, "spec": {"devices": {"requests": [{"exactly": {"deviceClassName": "gpu"}}]}}}
    claim = msgspec.convert(raw, ResourceClaim)
    limited = quota({"requests.example.com/gpu": "9", "requests.deviceclass.resource.kubernetes.io/gpu": "9"})
    for extended, used in (({"gpu": "example.com/gpu"}, "1"), ({}, "0")):
        held = {"resourceclaims.resource.k8s.io": [request_of(claim, SERVER, extended=extended)], "pods": []}
        found = recount(limited, held, SERVER, extended=extended)
        assert {name: str(value) for name, value in found.items()} == dict.fromkeys(limited.spec.hard or {}, used)


def test_what_nobody_counts_or_nobody_could_read_is_not_there():
    limited = quota(
        {"example.com/gpu": "1", "count/widgets.example.com": "1", "pods": "1", "secrets": "1", "services": "1"}
    )
    assert counted(limited, {"pods": [], "secrets": None}) == {"pods": "0"}
    kept = msgspec.structs.replace(limited, status=quota({"pods": "1"}, {"pods": "1", "secrets": "4"}).status)
    assert status_after(kept, {"pods": [], "secrets": None}, SERVER).used == {"pods": "0", "secrets": "4"}


@pytest.mark.parametrize(
    ("sizes", "used"), [(("1Mi", "1024k"), "2024Ki"), (("1024k", "1Mi"), "2072576"), (("0", "1e3"), "1e3")]
)
def test_sums_have_the_notation_of_the_first_amount(sizes: tuple[str, ...], used: str):
    held = [pod(f"p{place}", cpu=size) for place, size in enumerate(sizes)]
    assert counted(quota({"cpu": "9G"}), pods(*held)) == {"cpu": used}


@pytest.mark.parametrize(
    ("spec", "hard", "used", "then"),
    [
        # Nothing differs in value: what stands there stays, notation and all.
        ({"cpu": "4"}, {"cpu": "4000m"}, {"cpu": "1000m"}, ({"cpu": "4000m"}, {"cpu": "1000m"})),
        ({"cpu": "4"}, {"cpu": "4"}, {"cpu": "3"}, ({"cpu": "4"}, {"cpu": "1"})),
        ({"cpu": "5"}, {"cpu": "4"}, {"cpu": "1000m"}, ({"cpu": "5"}, {"cpu": "1"})),
        ({"cpu": "4"}, {"cpu": "4", "pods": "1"}, {"cpu": "1", "pods": "1"}, ({"cpu": "4"}, {"cpu": "1"})),
        ({"cpu": "4", "example.com/x": "1"}, None, None, ({"cpu": "4", "example.com/x": "1"}, {"cpu": "1"})),
    ],
)
def test_the_status_that_is_written(spec: Any, hard: Any, used: Any, then: tuple[Any, Any]):
    raw = {"metadata": {"name": "q"}, "spec": {"hard": spec}, "status": {"hard": hard, "used": used}}
    status = status_after(msgspec.convert(raw, ResourceQuota), pods(pod()), SERVER)
    assert (status.hard, status.used) == then


SERVICE, PORT = ({"spec": {"type": kind}} for kind in ("ClusterIP", "NodePort"))


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [
        (pod(), pod(cpu="100m"), False),
        (pod(), None, True),
        (pod(), pod(activeDeadlineSeconds=0), True),
        (pod(activeDeadlineSeconds=9), pod(activeDeadlineSeconds=3), False),
        (pod(), pod(status={"phase": "Running"}), False),
        (pod(), pod(status={"phase": "Failed"}), True),
        (pod(status={"phase": "Failed"}), pod(status={"phase": "Succeeded"}), False),
        (pod(), pod(status=MORE), False),
        (pod(status=actual()), pod(status=MORE), True),
        (pod(status=MORE), pod(status=MORE), False),
        (msgspec.convert(SERVICE, Service), msgspec.convert(PORT, Service), True),
        (msgspec.convert(SERVICE, Service), msgspec.convert({"spec": {"type": "ExternalName"}}, Service), False),
        (PersistentVolumeClaim(), PersistentVolumeClaim(), True),
    ],
)
def test_what_makes_the_controller_count_again(old: Any, new: Any, again: bool):
    assert counts_again(old, new, SERVER) is again


def test_only_quotas_that_name_something_of_the_kind_are_counted_again():
    assert wakes(quota({"pods": "1"}, {}), "pods", SERVER)
    assert not wakes(quota({"pods": "1"}, {}), "services", SERVER)
    assert not wakes(quota({"pods": "1"}), "pods", SERVER)


@pytest.mark.parametrize(
    ("held", "used", "cause", "who", "exact"),
    [
        ([pod(), pod("done", status={"phase": "Succeeded"})], "2", "finished", ("done",), True),
        ([pod(), pod("done", status={"phase": "Succeeded"})], "3", "finished", ("done",), False),
        ([pod(metadata={"generation": 2})], "2", "resized", ("p",), False),
        ([pod()], "2", "resync", (), False),
        ([pod()], "500m", "resync", (), False),
    ],
)
def test_drift(held: list[Pod], used: str, cause: str, who: tuple[str, ...], exact: bool):
    limited = quota({"requests.cpu": "9"}, {"requests.cpu": used})
    (found,) = find_drifts(limited, recount(limited, pods(*held), SERVER), (), held, SERVER, NOW)
    assert (found.cause, found.pods, found.exact) == (cause, who, exact)
    assert (found.used, found.counted) == (used, "1")


def test_drift_of_names_that_were_not_counted():
    limited = quota({"pods": "1", "secrets": "1", "example.com/x": "1"}, {"pods": "0", "secrets": "7"})
    newer = msgspec.structs.replace(limited, spec=quota({**(limited.spec.hard or {}), "cpu": "1"}).spec)
    found = find_drifts(newer, recount(newer, {"pods": [], "secrets": None}, SERVER), ["secrets"], [], SERVER)
    assert [(one.name, one.cause) for one in found] == [
        ("cpu", "pending"),
        ("example.com/x", "nobody"),
        ("secrets", "unread"),
    ]


def test_a_sum_that_the_api_server_refuses_stops_the_whole_status():
    """Recorded: status.used[gold...]: Invalid value: "10737418304Mi": must be an integer."""
    gold = "gold.storageclass.storage.k8s.io/requests.storage"
    limited = quota({gold: "1000Ti", "pods": "9"}, {"pods": "0"})
    counts = {gold: parse("10737418304Mi"), "pods": parse("1")}
    found = find_drifts(limited, counts, (), [], SERVER)
    assert [(one.name, one.cause) for one in found] == [(gold, "unwritable"), ("pods", "unwritable")]
    assert [one.cause for one in find_drifts(limited, {**counts, gold: parse("1Gi")}, (), [], SERVER)] == [
        "resync",
        "resync",
    ]
