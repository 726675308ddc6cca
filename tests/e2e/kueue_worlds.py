"""Small worlds for Kueue: flavors, queues, rules of a namespace, and Jobs that arrive one after the other."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

Raw = dict[str, Any]
_KUEUE = "kueue.x-k8s.io/v1beta2"


class World(NamedTuple):
    """What is sent, in this order. ``name``: the namespace, and how every name without a namespace begins."""

    name: str
    objects: tuple[Raw, ...]
    jobs: tuple[Raw, ...]


def made(seed: int, name: str) -> World:
    """The world of a seed; another name makes a copy of it."""
    random = Random(seed)
    cohort = f"{name}-pool" if random.random() < 0.3 else ""
    flavors = [_flavor(random, f"{name}-{each}") for each in ("plain", "spot")[: random.choice((1, 1, 2))]]
    names = [flavor["metadata"]["name"] for flavor in flavors]
    queues = [_cluster_queue(random, f"{name}-{each}", names, cohort) for each in ("main", "side")]
    objects = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": random.choice("ab")}}},
        *flavors,
        *queues,
        *(_local_queue(random, name, each) for each in ("main", "side")),
    ]
    if random.random() < 0.2:
        metadata = {"name": f"{name}-urgent"}
        objects.append({"apiVersion": _KUEUE, "kind": "WorkloadPriorityClass", "metadata": metadata, "value": 100})
    if random.random() < 0.5:
        objects.append(_limits(random, name))
    jobs = tuple(_job(random, name, each) for each in ("alpha", "beta", "gamma")[: random.randint(1, 3)])
    return World(name, tuple(objects), jobs)


def _flavor(random: Random, name: str) -> Raw:
    spec: Raw = {}
    if random.random() < 0.2:
        spec["nodeTaints"] = [{"key": "spot", "value": "yes", "effect": "NoSchedule"}]
    if random.random() < 0.3:
        spec["nodeLabels"] = {"disk": "ssd"}
    return {"apiVersion": _KUEUE, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": spec}


def _cluster_queue(random: Random, name: str, flavors: list[str], cohort: str) -> Raw:
    quotas = [
        {
            "name": flavor,
            "resources": [
                {"name": "cpu", "nominalQuota": random.choice(("1", "2", "3", "4"))},
                {"name": "memory", "nominalQuota": random.choice(("1Gi", "2Gi", "4Gi", "3G"))},
            ],
        }
        for flavor in flavors
    ]
    missing = {"name": f"{name}-gone", "resources": quotas[0]["resources"]}
    spec: Raw = {
        "queueingStrategy": random.choice(("StrictFIFO", "BestEffortFIFO")),
        "namespaceSelector": random.choice(({}, {}, {}, {"matchLabels": {"team": "a"}})),
        "resourceGroups": [
            {
                "coveredResources": ["cpu", "memory"],
                "flavors": [*quotas, *([missing] if random.random() < 0.07 else ())],
            }
        ],
        **({"stopPolicy": "Hold"} if random.random() < 0.07 else {}),
        **({"cohortName": cohort} if cohort else {}),
    }
    return {"apiVersion": _KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}


def _local_queue(random: Random, space: str, name: str) -> Raw:
    spec = {"clusterQueue": f"{space}-{name}{'x' if random.random() < 0.07 else ''}"}
    if random.random() < 0.07:
        spec["stopPolicy"] = "Hold"
    return {"apiVersion": _KUEUE, "kind": "LocalQueue", "metadata": {"name": name, "namespace": space}, "spec": spec}


def _limits(random: Random, space: str) -> Raw:
    item: Raw = {"type": "Container"}
    if random.random() < 0.7:
        item["defaultRequest"] = {"cpu": random.choice(("500m", "2"))}
    if random.random() < 0.4:
        item["default"] = {"cpu": random.choice(("2", "3"))}
    if random.random() < 0.2:
        item["max"] = {"memory": "3Gi"}
    metadata = {"name": "bounds", "namespace": space}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": [item]}}


def _job(random: Random, space: str, name: str) -> Raw:
    labels = {"kueue.x-k8s.io/queue-name": random.choice(("main",) * 7 + ("side", "maim"))}
    if random.random() < 0.1:
        labels["kueue.x-k8s.io/priority-class"] = f"{space}-urgent"
    amounts = {"cpu": random.choice(("250m", "1", "1500m", "3")), "memory": random.choice(("256Mi", "1Gi", "5Gi"))}
    resources = {random.choice(("requests", "requests", "limits")): amounts}
    if random.random() < 0.1:
        amounts["example.com/gpu"] = "1"
        resources = {"limits": amounts}
    pod: Raw = {
        "restartPolicy": "Never",
        "containers": [{"name": "work", "image": "registry.example/work:1", "resources": resources}],
    }
    if random.random() < 0.3:
        pod["tolerations"] = [{"key": "spot", "operator": "Exists"}]
    if random.random() < 0.15:
        pod["nodeSelector"] = {"disk": random.choice(("ssd", "old"))}
    pods = random.randint(1, 4)
    spec = {"parallelism": pods, "completions": pods + random.randint(0, 2), "template": {"spec": pod}}
    metadata = {"name": name, "namespace": space, "labels": labels}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
