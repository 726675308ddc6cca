"""Small random worlds for kube-scheduler: nodes, pods on them, claims and volumes, and a pod that waits."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Mapping
from typing import Any

import msgspec
from controlplane import ControlPlane

from kubectl_kres.model.scheduling import (
    BindingClass,
    CSINode,
    PersistentVolume,
    SchedulingNode,
    SchedulingPod,
    SchedulingWorld,
    StorageClaim,
)
from kubectl_kres.scheduling.node_info import ENDED, SchedulingCluster, bind, build_node
from kubectl_kres.scheduling.schedule import Scheduling, schedule

Json = dict[str, Any]
#: With these on, pods would get priorities, tolerations and taints that no world has, and claims would not go away.
OFF = (
    "ServiceAccount",
    "Priority",
    "DefaultTolerationSeconds",
    "TaintNodesByCondition",
    "StorageObjectInUseProtection",
)
SPACES = {"here": {"team": "a"}, "other": {"team": "b"}}
_NUMBERS = itertools.count()
_ZONE, _HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
_PATHS = {
    "pods": "/api/v1/pods",
    "claims": "/api/v1/persistentvolumeclaims",
    "volumes": "/api/v1/persistentvolumes",
    "nodes": "/api/v1/nodes",
    "csi_nodes": "/apis/storage.k8s.io/v1/csinodes",
    "classes": "/apis/storage.k8s.io/v1/storageclasses",
}


def _of(rng: random.Random, share: float) -> bool:
    return rng.random() < share


def node(rng: random.Random, name: str) -> Json:
    """A node as it is written, its status too."""
    labels = {_HOST: name}
    if _of(rng, 0.8):
        labels[_ZONE] = rng.choice("abc")
    if _of(rng, 0.6):
        labels["disk"] = rng.choice(["ssd", "hdd"])
    if _of(rng, 0.3):
        labels["gen"] = rng.choice(["4", "8", "x"])
    taints = [
        {"key": rng.choice(["gpu", "dedicated"]), "value": rng.choice(["", "ml"]), "effect": rng.choice(
            ["NoSchedule", "NoExecute", "PreferNoSchedule"])}
    ] if _of(rng, 0.25) else []  # fmt: skip
    amounts = {
        "cpu": rng.choice(["1", "2", "3920m", "16"]),
        "memory": rng.choice(["2Gi", "4Gi", "7820Mi", "32Gi"]),
        "ephemeral-storage": rng.choice(["10Gi", "100Gi"]),
        "pods": rng.choice(["1", "3", "110", "110"]),
    }
    if _of(rng, 0.3):
        amounts["example.com/gpu"] = rng.choice(["1", "4"])
    if _of(rng, 0.2):
        amounts["hugepages-2Mi"] = "64Mi"
    features = ["RestartAllContainersOnContainerExits"] if _of(rng, 0.5) else []
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints, "unschedulable": _of(rng, 0.1)},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "declaredFeatures": features,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def _container(rng: random.Random, name: str) -> Json:
    requests: Json = {}
    if _of(rng, 0.8):
        requests["cpu"] = rng.choice(["100m", "300m", "600m", "1500m", "3"])
    if _of(rng, 0.8):
        requests["memory"] = rng.choice(["128Mi", "384Mi", "896Mi", "1.5Gi", "5Gi"])
    if _of(rng, 0.1):
        requests["ephemeral-storage"] = rng.choice(["1Gi", "20Gi"])
    resources: Json = {"requests": requests}
    if _of(rng, 0.12):
        resources["limits"] = requests["example.com/gpu"] = rng.choice(["1", "2"])
        resources["limits"] = {"example.com/gpu": requests["example.com/gpu"]}
    made: Json = {"name": name, "image": "i", "resources": resources}
    if _of(rng, 0.15):
        port = rng.choice([80, 8080])
        made["ports"] = [{"containerPort": port, "hostPort": port, "protocol": rng.choice(["TCP", "UDP"])}]
        if _of(rng, 0.4):
            made["ports"][0]["hostIP"] = rng.choice(["127.0.0.1", "10.0.0.1"])
    return made


def _selector(rng: random.Random) -> Json:
    app = rng.choice(["web", "cache", "db"])
    if _of(rng, 0.5):
        return {"matchLabels": {"app": app}}
    if _of(rng, 0.1):
        return {}
    operator = rng.choice(["In", "NotIn", "Exists", "DoesNotExist"])
    values = {"values": [app, "x"]} if operator in {"In", "NotIn"} else {}
    return {"matchExpressions": [{"key": "app", "operator": operator, **values}]}


def _term(rng: random.Random) -> Json:
    term: Json = {"labelSelector": _selector(rng), "topologyKey": rng.choice([_ZONE, _HOST, "disk"])}
    if _of(rng, 0.3):
        term["namespaces"] = [rng.choice([*SPACES])]
    if _of(rng, 0.25):
        term["namespaceSelector"] = rng.choice([{}, {"matchLabels": {"team": "b"}}])
    if _of(rng, 0.15):
        term[rng.choice(["matchLabelKeys", "mismatchLabelKeys"])] = ["tier"]
    return term


def _affinity(rng: random.Random) -> Json:
    found: Json = {}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    if _of(rng, 0.2):
        found["podAffinity"] = {required: [_term(rng) for _ in range(rng.choice([1, 1, 2]))]}
    if _of(rng, 0.25):
        found["podAntiAffinity"] = {required: [_term(rng) for _ in range(rng.choice([1, 1, 2]))]}
    return found


def _node_affinity(rng: random.Random, names: list[str]) -> Json:
    terms: list[Json] = []
    for _ in range(rng.choice([1, 2])):
        operator = rng.choice(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
        key = "gen" if operator in {"Gt", "Lt"} else rng.choice(["disk", _ZONE])
        values = {"In": ["ssd", "a"], "NotIn": ["ssd", "a"], "Gt": ["5"], "Lt": ["5"]}.get(operator)
        term: Json = {"matchExpressions": [{"key": key, "operator": operator} | ({"values": values} if values else {})]}
        if _of(rng, 0.2):
            name = rng.choice([*names, "elsewhere"])
            term["matchFields"] = [{"key": "metadata.name", "operator": rng.choice(["In", "NotIn"]), "values": [name]}]
        terms.append(term)
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def pod(rng: random.Random, name: str, namespace: str) -> Json:
    """A pod that could stand anywhere."""
    labels = {"app": rng.choice(["web", "cache", "db"])}
    if _of(rng, 0.4):
        labels["tier"] = rng.choice("12")
    spec: Json = {
        "containers": [_container(rng, f"c{place}") for place in range(rng.choice([1, 1, 2]))],
        "terminationGracePeriodSeconds": 0,
        "priority": rng.choice([0, 0, 0, 10, 100]),
    }
    if _of(rng, 0.2):
        spec["initContainers"] = [
            {**_container(rng, f"i{place}")} | ({"restartPolicy": "Always"} if _of(rng, 0.5) else {})
            for place in range(rng.choice([1, 2]))
        ]
    if _of(rng, 0.1):
        # Not less than the containers ask for.
        spec["resources"] = {"requests": {"cpu": "20", "memory": "40Gi"}} if _of(rng, 0.3) else None
    if affinity := _affinity(rng):
        spec["affinity"] = affinity
    return {"metadata": {"name": name, "namespace": namespace, "labels": labels}, "spec": spec}


def waiting_pod(rng: random.Random, names: list[str]) -> Json:
    """A pod that looks for a node."""
    made = pod(rng, "p", "here")
    spec = made["spec"]
    spec["containers"][0]["resources"]["requests"].update(cpu=rng.choice(["300m", "900m", "3"]))
    if _of(rng, 0.35):
        spec.setdefault("affinity", {})["nodeAffinity"] = _node_affinity(rng, names)
    if _of(rng, 0.15):
        spec["nodeSelector"] = {"disk": rng.choice(["ssd", "hdd"])}
    if _of(rng, 0.3):
        spec["tolerations"] = [rng.choice([
            {"operator": "Exists"}, {"key": "gpu", "operator": "Exists"},
            {"key": "dedicated", "value": "ml", "effect": "NoSchedule"},
            {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"},
        ])]  # fmt: skip
    if _of(rng, 0.3):
        spec["topologySpreadConstraints"] = [_spread(rng) for _ in range(rng.choice([1, 1, 2]))]
        keys = [(one["topologyKey"], one["whenUnsatisfiable"]) for one in spec["topologySpreadConstraints"]]
        if len(set(keys)) < len(keys):
            spec["topologySpreadConstraints"].pop()
    if _of(rng, 0.1):
        spec["preemptionPolicy"] = "Never"
    if _of(rng, 0.1):
        rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [3]}}
        spec["containers"][0].update(restartPolicy="Never", restartPolicyRules=[rule])
    return made


def _spread(rng: random.Random) -> Json:
    made: Json = {
        "maxSkew": rng.choice([1, 1, 2]),
        "topologyKey": rng.choice([_ZONE, _HOST, "disk"]),
        "whenUnsatisfiable": rng.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": _selector(rng),
    }
    if made["whenUnsatisfiable"] == "DoNotSchedule" and _of(rng, 0.2):
        made["minDomains"] = rng.choice([2, 4])
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if _of(rng, 0.3):
            made[policy] = rng.choice(["Honor", "Ignore"])
    if _of(rng, 0.2):
        made["matchLabelKeys"] = ["tier"]
    return made


def storage(rng: random.Random, names: list[str], world: dict[str, list[Json]]) -> str:
    """Add a claim, perhaps its volume, to a world; the name of the claim, which may not be there."""
    kind = rng.choice(["missing", "immediate", "waits", "provisions", "bound", "lost", "local"])
    mode = "Immediate" if kind == "immediate" else "WaitForFirstConsumer"
    provisioner = "p.example.com" if kind in {"provisions", "bound"} else "kubernetes.io/no-provisioner"
    suffix = f"{next(_NUMBERS)}-{rng.randrange(10**6)}"
    terms = [{"matchLabelExpressions": [{"key": _ZONE, "values": ["a"]}]}] if _of(rng, 0.4) else []
    made = {"metadata": {"name": f"c{suffix}"}, "provisioner": provisioner, "volumeBindingMode": mode}
    world["classes"].append(made | ({"allowedTopologies": terms} if kind == "provisions" and terms else {}))
    if kind == "missing":
        return "d"
    modes = [rng.choice(["ReadWriteOnce", "ReadWriteOncePod"])]
    spec: Json = {
        "accessModes": modes,
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": f"c{suffix}",
    }
    claim: Json = {"metadata": {"name": "d", "namespace": "here"}, "spec": spec}
    labels = {_ZONE: rng.choice(["a", "b__c"])} if _of(rng, 0.4) else {}
    volume: Json = {
        "metadata": {"name": f"v{suffix}", "labels": labels},
        "spec": {
            "accessModes": modes,
            "capacity": {"storage": rng.choice(["1Gi", "512Mi", "2Gi"])},
            "storageClassName": f"c{suffix}",
            "csi": {"driver": "p.example.com", "volumeHandle": suffix},
        },
        "status": {"phase": "Available"},
    }
    if _of(rng, 0.6):
        expression = {"key": _HOST, "operator": "In", "values": rng.sample(names, min(2, len(names)))}
        volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    if kind in {"bound", "lost"}:
        spec["volumeName"] = f"v{suffix}"
        claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        claim["status"] = {"phase": "Bound" if kind == "bound" else "Lost"}
        volume["spec"]["claimRef"] = {"name": "d", "namespace": "here", "apiVersion": "v1",
                                      "kind": "PersistentVolumeClaim"}  # fmt: skip
        volume["status"]["phase"] = "Bound"
    world["claims"].append(claim)
    if kind in {"bound", "local"} and not (kind == "bound" and _of(rng, 0.15)):
        world["volumes"].append(volume)
    return "d"


def world(rng: random.Random) -> dict[str, list[Json]]:
    """By the keys of ``_PATHS`` what is written; the last pod is the one that waits."""
    mark = f"{next(_NUMBERS)}-{rng.randrange(10**6)}"
    names = [f"n{mark}-{place}" for place in range(rng.randint(1, 6))]
    made: dict[str, list[Json]] = {key: [] for key in _PATHS}
    made["nodes"] = [node(rng, name) for name in names]
    for place in range(rng.randint(0, 8)):
        bound = pod(rng, f"b{place}", rng.choice([*SPACES]))
        bound["spec"]["nodeName"] = rng.choice(names)
        if _of(rng, 0.1):
            bound["status"] = {"phase": rng.choice(["Succeeded", "Failed"])}
        made["pods"].append(bound)
    asked = waiting_pod(rng, names)
    if _of(rng, 0.35):
        claim = storage(rng, names, made)
        volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": claim}}]
        asked["spec"]["volumes"] = volumes
        mine = [other for other in made["pods"] if other["metadata"]["namespace"] == "here"]
        if mine and _of(rng, 0.3):
            rng.choice(mine)["spec"]["volumes"] = volumes
        for name in names:
            if _of(rng, 0.4):
                driver = {"name": "p.example.com", "nodeID": name, "allocatable": {"count": rng.choice([0, 1])}}
                made["csi_nodes"].append({"metadata": {"name": name}, "spec": {"drivers": [driver]}})
    made["pods"].append(asked)
    return made


def _put(plane: ControlPlane, path: str, item: Json) -> None:
    namespace = item["metadata"].get("namespace")
    head, _, plural = path.rpartition("/")
    place = f"{head}/namespaces/{namespace}/{plural}" if namespace else path
    status, answer = plane.request("POST", place, item)
    assert status == 201, (answer, item)
    if "status" in item:
        answer["status"] = answer["status"] | item["status"] if answer.get("status") else item["status"]
        status, answer = plane.request("PUT", f"{place}/{item['metadata']['name']}/status", answer)
        assert status == 200, answer


def clear(plane: ControlPlane) -> None:
    """Delete what a world left."""
    for path in _PATHS.values():
        for item in plane.request("GET", path)[1]["items"]:
            namespace, name = item["metadata"].get("namespace"), item["metadata"]["name"]
            head, _, plural = path.rpartition("/")
            place = f"{head}/namespaces/{namespace}/{plural}" if namespace else path
            plane.request("DELETE", f"{place}/{name}?gracePeriodSeconds=0")


def write(plane: ControlPlane, made: Mapping[str, list[Json]]) -> bool:
    """Write a world without the pod that waits; whether the server took all of it."""
    for key in ("classes", "nodes", "csi_nodes", "volumes", "claims"):
        for item in made[key]:
            _put(plane, _PATHS[key], item)
    for item in made["pods"][:-1]:
        _put(plane, _PATHS["pods"], item)
    return True


def answer_of(plane: ControlPlane, asked: Json) -> Json:
    """The pod once the scheduler has looked at it."""
    path = "/api/v1/namespaces/here/pods"
    status, stored = plane.request("POST", path, asked)
    assert status == 201, (stored, asked)
    name = asked["metadata"]["name"]
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        stored = plane.request("GET", f"{path}/{name}")[1]
        # A pod whose claims the volume controller has yet to bind is promised to a node for as long.
        if stored["spec"].get("nodeName") or stored["status"].get("nominatedNodeName") or condition(stored):
            return dict(stored)
        time.sleep(0.02)
    raise AssertionError(f"the scheduler did not look at {name}")


def condition(stored: Json) -> Json:
    """The condition PodScheduled; empty: there is none yet."""
    found = [one for one in stored["status"].get("conditions", ()) if one["type"] == "PodScheduled"]
    return found[0] if found else {}


def read(plane: ControlPlane) -> dict[str, list[Json]]:
    """What the server has now."""
    return {key: plane.request("GET", path)[1]["items"] for key, path in _PATHS.items()}


def predict(items: Mapping[str, list[Json]], asked: Json, minor: int) -> Scheduling:
    """What our filters say of a pod among all that the server had before it."""

    def typed(key: str, struct: Any) -> list[Any]:
        return [msgspec.convert(item, struct) for item in items[key]]

    pods = [one for one in typed("pods", SchedulingPod) if one.status.phase not in ENDED]
    nodes = tuple(
        build_node(one, (bind(other) for other in pods if other.spec.node_name == one.metadata.name))
        for one in typed("nodes", SchedulingNode)
    )
    known = SchedulingWorld(
        namespaces=SPACES,
        claims={(one.metadata.namespace, one.metadata.name): one for one in typed("claims", StorageClaim)},
        volumes={one.metadata.name: one for one in typed("volumes", PersistentVolume)},
        classes={one.metadata.name: one for one in typed("classes", BindingClass)},
        csi_nodes={one.metadata.name: one for one in typed("csi_nodes", CSINode)},
        minor=minor,
    )
    return schedule(msgspec.convert(asked, SchedulingPod), SchedulingCluster(nodes, known))
