"""Each plugin by itself: what it says of a node, and whether that can be resolved by others going."""

from __future__ import annotations

import msgspec
import pytest
from scheduling.made import node, pod, reasons, run

from kubectl_kres.model.scheduling import (
    BindingClass,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    SchedulingDeviceClaim,
    SchedulingDeviceClass,
    StorageClaim,
    VolumeAttachment,
)

ZONE = "topology.kubernetes.io/zone"
GPU = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


def one(found) -> str:
    """What the only node says."""
    (said,) = reasons(found).values()
    return ", ".join(said)


@pytest.mark.parametrize(
    ("taint", "toleration", "fits"),
    [
        (GPU, None, False),
        (GPU, {"operator": "Exists"}, True),
        (GPU, {"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        (GPU, {"key": "gpu", "value": "yes"}, True),
        (GPU, {"key": "gpu", "value": "no"}, False),
        (GPU, {"key": "gpu", "operator": "Gt", "value": "1"}, False),
        ({**GPU, "effect": "PreferNoSchedule"}, None, True),
    ],
)
def test_taints(taint, toleration, fits: bool):
    found = run(pod(tolerations=[toleration] if toleration else []), [node("a", spec={"taints": [taint]})])
    assert bool(found.answer.feasible) == fits
    if not fits:
        assert one(found) == "node(s) had untolerated taint(s)"
        assert found.answer.statuses["a"].about == "gpu=yes:NoSchedule"


def test_the_taint_is_named_before_1_36():
    assert one(run(pod(), [node("a", spec={"taints": [GPU]})], minor=35)) == "node(s) had untolerated taint {gpu: yes}"


def test_a_node_that_is_cordoned():
    cordoned = node("a", spec={"unschedulable": True})
    assert one(run(pod(), [cordoned])) == "node(s) were unschedulable"
    tolerant = pod(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])
    assert run(tolerant, [cordoned]).answer.feasible == ("a",)


@pytest.mark.parametrize("minor, first", [(36, "node(s) were unschedulable"), (37, "node(s) didn't match the")])
def test_since_1_37_the_name_comes_first(minor: int, first: str):
    found = run(pod(nodeName="b"), [node("a", spec={"unschedulable": True})], minor=minor)
    assert one(found).startswith(first)


@pytest.mark.parametrize(
    ("expression", "fits"),
    [
        ({"key": "gen", "operator": "Gt", "values": ["5"]}, True),
        ({"key": "gen", "operator": "Lt", "values": ["5"]}, False),
        ({"key": "gen", "operator": "Gt", "values": ["x"]}, False),
        ({"key": "gen", "operator": "NotIn", "values": ["8"]}, False),
        ({"key": "none", "operator": "NotIn", "values": ["8"]}, True),
        ({"key": "none", "operator": "DoesNotExist"}, True),
        ({"key": "gen", "operator": "In", "values": []}, False),
    ],
)
def test_node_affinity(expression, fits: bool):
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    assert bool(run(pod(affinity=affinity), [node("a", {"gen": "8"})]).answer.feasible) == fits


def test_terms_that_name_nodes_leave_out_the_others():
    def asked(*names: str):
        terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]}]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        return run(pod(affinity={"nodeAffinity": required}, requests={"cpu": "9"}), [node("a"), node("b")])

    assert asked("a").sentence == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims "
        "to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    )
    assert asked("a", "b").sentence == "0/2 nodes are available: pod affinity terms conflict. not found"


@pytest.mark.parametrize(
    ("used", "asked", "fits"),
    [
        (("", "TCP"), ("", "TCP"), False),
        (("", "UDP"), ("", "TCP"), True),
        (("10.0.0.1", "TCP"), ("10.0.0.2", "TCP"), True),
        (("10.0.0.1", "TCP"), ("", "TCP"), False),
        (("", ""), ("10.0.0.2", "TCP"), False),
    ],
)
def test_ports(used, asked, fits: bool):
    def ports(host, protocol):
        return [{"hostPort": 80, "hostIP": host, "protocol": protocol}]

    found = run(pod(ports=ports(*asked)), [node("a")], [pod("b", nodeName="a", ports=ports(*used))])
    assert bool(found.answer.feasible) == fits
    if not fits:
        assert one(found) == "node(s) didn't have free ports for the requested pod ports"


def test_resources_that_are_short():
    found = run(
        pod(requests={"cpu": "3", "memory": "9Gi", "example.com/gpu": "1"}),
        [node("a", pods="1")],
        [pod("b", nodeName="a", requests={"cpu": "1500m"})],
    )
    status = found.answer.statuses["a"]
    assert status.reasons == (
        "Too many pods",
        "Insufficient cpu",
        "Insufficient memory",
        "Insufficient example.com/gpu",
    )
    assert status.code == "UnschedulableAndUnresolvable"
    cpu = status.shortages[1]
    assert (cpu.requested, cpu.used, cpu.capacity, cpu.missing_amount) == (3000, 1500, 4000, 500)


def test_what_a_pod_requests_in_all():
    inits = [
        {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
        {"name": "init", "resources": {"requests": {"cpu": "3"}}},
    ]
    assert run(pod(requests={"cpu": "2"}, initContainers=inits), [node("a")]).answer.feasible == ("a",)
    assert not run(
        pod(requests={"cpu": "2"}, initContainers=inits, overhead={"cpu": "1m"}), [node("a")]
    ).answer.feasible
    level = {"requests": {"cpu": "100m"}}
    assert run(pod(requests={"cpu": "9"}, resources=level), [node("a")]).answer.feasible == ("a",)


def test_a_resize_that_is_under_way_counts():
    status = {
        "containerStatuses": [
            {"name": "app", "resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "3500m"}}
        ]
    }
    bound = pod("b", nodeName="a", requests={"cpu": "1"}, status=status)
    assert one(run(pod(requests={"cpu": "1"}), [node("a")], [bound])) == "Insufficient cpu"


def test_a_resource_that_devices_may_stand_for_is_not_computed():
    device = msgspec.convert(
        {"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}}, SchedulingDeviceClass
    )
    found = run(pod(requests={"example.com/gpu": "1"}), [node("a")], device_classes={"gpu": device})
    assert found.answer.not_computed and found.sentence is None and not found.answer.feasible


def spread(**more):
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    return pod(labels={"app": "web"}, topologySpreadConstraints=[{**constraint, **more}])


def test_topology_spread():
    nodes = [node("a", {ZONE: "a"}), node("b", {ZONE: "b"}), node("c")]
    there = [
        pod("1", nodeName="a", labels={"app": "web"}),
        pod("2", nodeName="a", namespace="x", labels={"app": "web"}),
    ]
    uneven, missing = (
        "node(s) didn't match pod topology spread constraints",
        "node(s) didn't match pod topology spread constraints (missing required label)",
    )
    assert reasons(run(spread(), nodes, there)) == {"a": (uneven,), "b": (), "c": (missing,)}
    # With fewer domains than are wanted the smallest number is 0.
    assert reasons(run(spread(minDomains=3), nodes[:2], [*there, pod("3", nodeName="b", labels={"app": "web"})])) == {
        "a": (uneven,),
        "b": (uneven,),
    }
    assert run(spread(whenUnsatisfiable="ScheduleAnyway"), nodes, there).answer.feasible == ("a", "b", "c")
    # An empty selector counts nobody but the pod itself.
    assert run(spread(labelSelector={}), nodes[:2], there).answer.feasible == ("a", "b")


@pytest.mark.parametrize("policy, fits", [("Honor", True), ("Ignore", False)])
def test_topology_spread_with_taints(policy: str, fits: bool):
    nodes = [node("a", {ZONE: "a"}), node("b", {ZONE: "b"}, {"taints": [GPU]})]
    found = run(spread(nodeTaintsPolicy=policy), nodes, [pod("1", nodeName="a", labels={"app": "web"})])
    assert ("a" in found.answer.feasible) == fits


def term(**more):
    return {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": ZONE, **more}


def near(*terms):
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def apart(*terms):
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


ZONES = [node("a", {ZONE: "a"}), node("b", {ZONE: "b"})]
DB = pod("db", nodeName="a", labels={"app": "db"})


def test_pods_that_must_be_near_or_apart():
    assert run(pod(affinity=near(term())), ZONES, [DB]).answer.feasible == ("a",)
    assert run(pod(affinity=apart(term())), ZONES, [DB]).answer.feasible == ("b",)
    assert reasons(run(pod(affinity=near(term())), ZONES))["a"] == ("node(s) didn't match pod affinity rules",)
    # The first of its kind may start anywhere.
    assert run(pod(affinity=near(term()), labels={"app": "db"}), ZONES).answer.feasible == ("a", "b")


def test_namespaces_of_a_term():
    away = pod("db", nodeName="a", namespace="other", labels={"app": "db"})
    spaces = {"here": {}, "other": {"team": "b"}}
    chosen = term(namespaceSelector={"matchLabels": {"team": "b"}})
    assert run(pod(affinity=apart(term())), ZONES, [away], namespaces=spaces).answer.feasible == ("a", "b")
    assert run(pod(affinity=apart(chosen)), ZONES, [away], namespaces=spaces).answer.feasible == ("b",)
    assert run(pod(affinity=apart(term(namespaceSelector={}))), ZONES, [away]).answer.feasible == ("b",)


def test_the_anti_affinity_of_pods_that_run():
    shy = pod("shy", nodeName="a", affinity=apart(term()), namespace="other")
    asked = pod(labels={"app": "db"})
    assert run(asked, ZONES, [shy]).answer.feasible == ("a", "b")
    selecting = pod("shy", nodeName="a", namespace="other", affinity=apart(term(namespaceSelector={})))
    found = run(asked, ZONES, [selecting])
    assert reasons(found)["a"] == ("node(s) didn't satisfy existing pods anti-affinity rules",)


def test_label_keys_stand_for_the_pods_own_values():
    keyed = term(labelSelector={}, matchLabelKeys=["tier"])
    there = [pod("1", nodeName="a", labels={"tier": "1"}), pod("2", nodeName="b", labels={"tier": "2"})]
    assert run(pod(affinity=apart(keyed), labels={"tier": "1"}), ZONES, there).answer.feasible == ("b",)


def claim(**spec):
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if spec.pop("bound", False) else {}
    phase = spec.pop("phase", "")
    made = msgspec.convert(
        {
            "metadata": {"name": "d", "namespace": "here", "uid": "d", "annotations": annotations},
            "spec": {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"], **spec},
            "status": {"phase": phase},
        },
        StorageClaim,
    )
    return {("here", "d"): made}


def volume(name: str = "v", labels=None, on: str = "", **spec):
    if on:
        terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}]}]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    phase = spec.pop("phase", "Available")
    base = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "storageClassName": "local"}
    made = {"metadata": {"name": name, "labels": labels or {}}, "spec": {**base, **spec}, "status": {"phase": phase}}
    return {name: msgspec.convert(made, PersistentVolume)}


def storage_class(mode: str = "WaitForFirstConsumer", provisioner: str = "kubernetes.io/no-provisioner", **more):
    made = {"metadata": {"name": "local"}, "provisioner": provisioner, "volumeBindingMode": mode, **more}
    return {"local": msgspec.convert(made, BindingClass)}


USES = [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]
AB = [node("a", {ZONE: "a"}), node("b", {ZONE: "b"})]


@pytest.mark.parametrize(
    ("world", "message"),
    [
        ({}, 'persistentvolumeclaim "d" not found'),
        (
            {"claims": claim(phase="Lost", volumeName="v")},
            'persistentvolumeclaim "d" bound to non-existent persistentvolume "v"',
        ),
        ({"claims": claim(storageClassName="none")}, "pod has unbound immediate PersistentVolumeClaims"),
        (
            {"claims": claim(storageClassName="local"), "classes": storage_class("Immediate")},
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        (
            {"claims": claim(bound=True, volumeName="v")},
            'persistentvolume "v" not found',
        ),
    ],
)
def test_claims_for_which_no_node_will_do(world, message: str):
    found = run(pod(volumes=USES), AB, **world)
    assert found.answer.rejection.message == message
    assert found.sentence == f"0/2 nodes are available: {message}. not found"


def test_a_claim_that_waits_finds_a_volume_on_a_node():
    world = {"claims": claim(storageClassName="local"), "classes": storage_class()}
    none = ("node(s) didn't find available persistent volumes to bind",)
    assert reasons(run(pod(volumes=USES), AB, volumes=volume(on="b"), **world)) == {"a": none, "b": ()}
    small = volume(on="b", capacity={"storage": "512Mi"})
    assert reasons(run(pod(volumes=USES), AB, volumes=small, **world))["b"] == none
    taken = volume(on="b", claimRef={"name": "x", "namespace": "here"})
    assert reasons(run(pod(volumes=USES), AB, volumes=taken, **world))["b"] == none


def test_a_driver_that_makes_volumes():
    terms = [{"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}]
    made = storage_class(provisioner="csi.example.com", allowedTopologies=terms)
    world = {"claims": claim(storageClassName="local"), "classes": made}
    assert run(pod(volumes=USES), AB, **world).answer.feasible == ("b",)
    driver = msgspec.convert({"metadata": {"name": "csi.example.com"}, "spec": {"storageCapacity": True}}, CSIDriver)
    full = run(pod(volumes=USES), AB, drivers={"csi.example.com": driver}, **world)
    assert reasons(full)["b"] == ("node(s) did not have enough free storage",)
    room = msgspec.convert(
        {"storageClassName": "local", "capacity": "2Gi", "nodeTopology": {"matchLabels": {ZONE: "b"}}},
        CSIStorageCapacity,
    )
    found = run(pod(volumes=USES), AB, drivers={"csi.example.com": driver}, capacities=(room,), **world)
    assert found.answer.feasible == ("b",)


def test_a_volume_that_only_one_node_reaches_and_one_of_a_zone():
    bound = claim(bound=True, volumeName="v", storageClassName="local")
    found = run(pod(volumes=USES), AB, claims=bound, volumes=volume(on="b"))
    assert reasons(found)["a"] == ("node(s) didn't match PersistentVolume's node affinity",)
    zoned = run(pod(volumes=USES), [*AB, node("c")], claims=bound, volumes=volume(labels={ZONE: "b__c"}))
    assert reasons(zoned) == {"a": ("node(s) had no available volume zone",), "b": (), "c": ()}


def test_a_claim_that_one_pod_at_a_time_may_use():
    bound = claim(bound=True, volumeName="v", accessModes=["ReadWriteOncePod"])
    user = pod("b", nodeName="b", volumes=USES)
    found = run(pod(volumes=USES, priority=5), AB, [user], claims=bound, volumes=volume())
    assert "already in-use by another pod" in reasons(found)["a"][0]
    assert found.preemption.nodes == ("b",)


def test_how_many_volumes_a_node_can_hold():
    limits = msgspec.convert({"spec": {"drivers": [{"name": "csi.example.com", "allocatable": {"count": 1}}]}}, CSINode)
    csi = {"driver": "csi.example.com", "volumeHandle": "h"}
    other = {"driver": "csi.example.com", "volumeHandle": "o"}
    world = {
        "claims": claim(bound=True, volumeName="v"),
        "volumes": {**volume(csi=csi), **volume("w", csi=other)},
        "csi_nodes": {"a": limits},
    }
    assert run(pod(volumes=USES), AB, **world).answer.feasible == ("a", "b")
    attached = msgspec.convert(
        {"spec": {"attacher": "csi.example.com", "nodeName": "a", "source": {"persistentVolumeName": "w"}}},
        VolumeAttachment,
    )
    found = run(pod(volumes=USES), AB, attachments={"a": (attached,)}, **world)
    assert reasons(found)["a"] == ("node(s) exceed max volume count",)


def test_disks_that_one_pod_may_write():
    disk = [{"name": "d", "gcePersistentDisk": {"pdName": "x"}}]
    read = [{"name": "d", "gcePersistentDisk": {"pdName": "x", "readOnly": True}}]
    there = pod("b", nodeName="a", volumes=read)
    assert reasons(run(pod(volumes=disk), AB, [there]))["a"] == ("node(s) had no available disk",)
    assert run(pod(volumes=read), AB, [there]).answer.feasible == ("a", "b")


def test_claims_on_devices():
    asked = pod(resourceClaims=[{"name": "g", "resourceClaimName": "gpu"}])
    assert run(asked, AB).answer.rejection.message == 'could not find ResourceClaim "here/gpu"'
    where = {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["b"]}]}]}
    made = {"metadata": {"name": "gpu", "namespace": "here"}, "status": {"allocation": {"nodeSelector": where}}}
    claims = {("here", "gpu"): msgspec.convert(made, SchedulingDeviceClaim)}
    found = run(asked, AB, device_claims=claims)
    assert reasons(found) == {"a": ("resourceclaim not available on the node",), "b": ()}
    fresh = {("here", "gpu"): msgspec.convert({**made, "status": {}}, SchedulingDeviceClaim)}
    assert run(asked, AB, device_claims=fresh).answer.not_computed == ("the devices that ResourceClaim gpu would get",)


def test_features_that_a_node_declares():
    asked = pod(hostNetwork=True, hostUsers=False)
    able = msgspec.structs.replace(node("b"), status=msgspec.structs.replace(
        node("b").status, declared_features=("UserNamespacesHostNetworkSupport",)))  # fmt: skip
    found = run(asked, [node("a"), able])
    assert reasons(found) == {"a": ("node(s) didn't match Pod's required features",), "b": ()}
