"""What to change where volumes keep a pod off all nodes: each change is tried by the filters."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from reports.test_scheduling_report import made, raw_node, raw_pod, report

from kubectl_kres.model import scheduling
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.model.scheduling import BindingClass, PersistentVolume, StorageClaim
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.node_fixes import fix_text
from kubectl_kres.reports.common.nodes import NodeRemedy
from kubectl_kres.reports.scheduling.obstacles import RemedyTarget, WaitingPods
from kubectl_kres.reports.scheduling.report import report_nodes
from kubectl_kres.reports.scheduling.volume_remedies import find_volume_remedies
from kubectl_kres.store.store import READ, ReadRequest

_HOST, _ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
NODES = [raw_node(f"n-{zone}", "4Gi", labels={_HOST: f"n-{zone}", _ZONE: zone}) for zone in "ab"]
USES = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]


def storage_class(name: str, provisioner: str = "disk.example.com", *, waits: bool = True) -> Any:
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    raw = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}
    return scheduling.CLASSES, msgspec.convert(raw, BindingClass)


def claim(name: str = "data", size: str = "5Gi", volume: str = "", **spec: Any) -> Any:
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    raw = {
        "metadata": {"name": name, "namespace": "shop", "annotations": bound},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec},
        "status": {"phase": "Bound" if volume else "Pending"},
    }
    raw["spec"] |= {"volumeName": volume} if volume else {}
    return scheduling.CLAIMS, msgspec.convert(raw, StorageClaim)


def volume(name: str, size: str = "5Gi", host: str = "", **more: Any) -> Any:
    spec = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}, **more}
    if host:
        wanted = {"key": _HOST, "operator": "In", "values": [host]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}}
    raw = {"metadata": {"name": name}, "spec": spec, "status": {"phase": "Available"}}
    return scheduling.VOLUMES, msgspec.convert(raw, PersistentVolume)


def remedies(*storage: Any, pods: Any = (), **spec: Any) -> dict[str, NodeRemedy]:
    store = made(raw_pod(volumes=USES, **spec), NODES, pods)
    for kind, item in storage:
        store.add(kind, item)
    for kind in (scheduling.CLAIMS, scheduling.VOLUMES, scheduling.CLASSES, scheduling.CSI_NODES):
        store.cover(ReadRequest(kind), READ)
    store.cover(ReadRequest(scheduling.CSI_DRIVERS), READ)
    found = report(store)
    assert found.complete and not found.fitting
    return {remedy.action: remedy for remedy in found.fixes}


def test_a_claim_that_is_missing_can_be_created_or_another_one_used():
    found = remedies(storage_class("fast"), claim("date", volume="disk"), volume("disk", host="n-b"), claim("other"))
    assert set(found) == {"create-claim", "use-claim"}
    create, use = found["create-claim"], found["use-claim"]
    assert create.wanted is not None and (create.about, create.nodes) == ("data", 2)
    assert (create.wanted.storage_class, create.wanted.storage) == ("fast", "")
    assert (use.about, use.to, use.node, use.nodes) == ("data", "date", "n-b", 1)  # that name is nearer than "other"
    assert sentence_text(use.no_command_reason) == "this cannot be changed in a pod" and not use.commands
    assert fix_text(use).startswith(
        "use claim date instead of data, if its data is what the pod needs: the pod then fits on n-b"
    )


def test_a_created_claim_is_not_larger_than_the_largest_free_volume():
    free = volume("one", "1Gi", "n-a", storageClassName="local"), volume("two", "2Gi", "n-b", storageClassName="local")
    local = storage_class("local", "kubernetes.io/no-provisioner")
    create = remedies(local, *free)["create-claim"]
    assert create.wanted is not None and (create.wanted.storage, create.node, create.nodes) == ("2Gi", "n-b", 1)
    assert (
        "create claim data of class local, with at most 2Gi, with ReadWriteOnce: the pod then fits on n-b"
        in fix_text(create)
    )
    assert not remedies(local)  # nothing is free
    assert not remedies(storage_class("now", waits=False))  # where its volume would be is not known


def test_a_claim_in_use_by_another_pod_is_not_offered():
    holder = raw_pod("db", {"phase": "Running"}, nodeName="n-b", volumes=[
        {"name": "d", "persistentVolumeClaim": {"claimName": "date"}}
    ])  # fmt: skip
    found = remedies(claim("date", volume="disk"), volume("disk"), pods=[holder])
    assert not found
    shared = claim("date", volume="disk", accessModes=["ReadWriteMany"])
    assert remedies(shared, volume("disk"), pods=[holder])["use-claim"].to == "date"


def test_a_claim_whose_class_does_not_exist():
    found = remedies(claim(storageClassName="gone"), storage_class("fast"), claim("small", "1Gi", volume="disk"),
                     volume("disk", "1Gi"))  # fmt: skip
    assert set(found) == {"provide-volume", "change-class"}  # the other claim has too little room
    wanted = found["provide-volume"].wanted
    assert wanted is not None and wanted.class_missing
    assert (wanted.storage_class, wanted.storage, wanted.access_modes) == ("gone", "5Gi", ("ReadWriteOnce",))
    change = found["change-class"]
    assert (change.about, change.to, change.nodes) == ("data", "fast", 2)
    assert not change.commands and "cannot be changed" in sentence_text(change.no_command_reason)
    text = fix_text(found["provide-volume"])
    assert (
        "for claim data of class gone (there is no such class), with at least 5Gi, with ReadWriteOnce: the pod then "
        "fits on n-a" in text
    )


def test_a_claim_without_a_class_can_be_given_one():
    change = remedies(claim(), storage_class("fast"))["change-class"]
    (line,) = change.commands
    assert line == (
        'kubectl patch persistentvolumeclaim data -n shop --type merge -p \'{"spec":{"storageClassName":"fast"}}\''
    )
    none_wanted = remedies(claim(storageClassName=""), storage_class("fast"))["change-class"]
    assert not none_wanted.commands  # no class is what it asks for


@pytest.mark.parametrize(("asked", "offered"), [("5Gi", True), ("6Gi", False)])
def test_another_claim_has_as_much_room_as_its_volume(asked: str, offered: bool):
    found = remedies(claim(size=asked, storageClassName="gone"), claim("old", "1Gi", volume="disk"), volume("disk"))
    assert ("use-claim" in found) is offered


def test_a_claim_that_is_bound_at_once_waits_for_its_driver():
    found = remedies(claim(storageClassName="now"), storage_class("now", waits=False))
    (provide,) = found.values()
    assert provide.wanted is not None and provide.wanted.provisioner == "disk.example.com"
    assert "for claim data (or disk.example.com makes it) of class now, with" in fix_text(provide)


def test_a_selector_that_leads_away_from_the_volume():
    there = claim(volume="disk"), volume("disk", host="n-a")
    (change,) = remedies(*there, nodeSelector={_ZONE: "b"}).values()  # no node is given another zone
    assert (change.action, change.about, change.to, change.node) == (
        "change-selector", f"{_ZONE}=b", f"{_ZONE}=a", "n-a"
    )  # fmt: skip
    expression = {"key": _ZONE, "operator": "In", "values": ["b"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    (drop,) = remedies(*there, affinity=affinity).values()
    assert (drop.action, drop.about, drop.node) == ("drop-affinity", "nodeAffinity", "n-a")


def test_who_holds_a_claim_that_one_pod_may_use():
    holder = raw_pod("db", {"phase": "Running"}, nodeName="n-b", volumes=USES, requests={"memory": "3Gi"})
    one = claim(volume="disk", accessModes=["ReadWriteOncePod"])
    (release,) = remedies(one, volume("disk", host="n-b"), pods=[holder], requests={"memory": "2Gi"}).values()
    assert [each.name for each in release.holders] == ["db"] and release.node == "n-b"  # its memory is free then, too
    assert fix_text(release).startswith(
        "end Pod/db, which alone may use claim data (ReadWriteOncePod): the pod then fits on n-b"
    )
    assert not remedies(one, volume("disk", host="n-b"), pods=[holder], requests={"memory": "9Gi"})


def test_nothing_is_said_where_more_than_the_volume_is_missing():
    assert not remedies(storage_class("fast"), requests={"memory": "9Gi"})


def test_a_pod_that_its_statefulset_does_not_replace_is_deleted_with_the_change():
    """With OrderedReady the controller waits for it: no change of the template reaches it."""
    store = made(raw_pod(volumes=USES, nodeSelector={_ZONE: "b"}), NODES)
    for kind, item in (claim(volume="disk"), volume("disk", host="n-a")):
        store.add(kind, item)
    for kind in (scheduling.CLAIMS, scheduling.VOLUMES, scheduling.CLASSES, scheduling.CSI_NODES):
        store.cover(ReadRequest(kind), READ)
    store.cover(ReadRequest(scheduling.CSI_DRIVERS), READ)
    pod, asked = store.get("Pod", "web", "shop"), store.get(scheduling.POD, "web", "shop")
    reported = report_nodes(store, pod, 37)
    assert reported is not None
    _, cluster, obstacles = reported
    waiting = WaitingPods(left=("web-0",), namespace="shop")
    target = RemedyTarget(ObjectRef("StatefulSet", "web", "shop"), "spec.template.", lambda _: True, waiting=waiting)
    (change,) = find_volume_remedies(store.origin, asked, target, cluster, obstacles)
    assert (change.action, change.replaced) == ("change-selector", ("web-0",))
    assert change.commands[-1] == "kubectl delete pod web-0 -n shop"
