"""Clusters in which nothing is wrong, made up by a seed: every rule has something to look at, and must be silent."""

from __future__ import annotations

import random
from typing import Any

Raw = dict[str, Any]

_CPU = (50, 100, 250, 500)
_MEMORY = (64, 128, 256, 512)


def cluster(seed: int) -> list[Raw]:
    """One to four namespaces, each with a LimitRange or none, a quota with room, workloads that have all their pods."""
    rng = random.Random(f"healthy/{seed}")
    objects: list[Raw] = [_stored("v1", "PriorityClass", "high", "", value=1000)]
    for number in range(rng.randint(1, 4)):
        objects += _namespace(rng, f"team-{number}")
    return objects + _pool(rng)


def _namespace(rng: random.Random, space: str) -> list[Raw]:
    found = [_stored("v1", "Namespace", space, "", status={"phase": "Active"}, labels={"pool": "gold"})]
    ranged = rng.random() < 0.6
    if ranged:
        item = {
            "type": "Container",
            "min": {"cpu": "10m", "memory": "16Mi"},
            "max": {"cpu": "2", "memory": "2Gi"},
            "default": {"cpu": "500m", "memory": "256Mi"},
            "defaultRequest": {"cpu": "100m", "memory": "128Mi"},
        }
        found.append(_stored("v1", "LimitRange", "bounds", space, spec={"limits": [item]}))
    used = {"requests.cpu": 0, "requests.memory": 0, "pods": 0}
    for number in range(rng.randint(0, 4)):
        made = _workload(rng, f"web-{number}", space)
        found += made[:1]
        for pod in made[1:]:
            found.append(pod)
            for container in pod["spec"]["containers"]:
                requests = container["resources"]["requests"]
                used["requests.cpu"] += int(requests["cpu"].removesuffix("m"))
                used["requests.memory"] += int(requests["memory"].removesuffix("Mi"))
            used["pods"] += 1
    if rng.random() < 0.8:
        names = {"requests.cpu": "m", "requests.memory": "Mi", "pods": ""} if ranged else {"pods": ""}
        hard = {name: f"{3 * used[name] + 4000}{unit}" for name, unit in names.items()}
        status = {"hard": hard, "used": {name: f"{used[name]}{unit}" for name, unit in names.items()}}
        spec: Raw = {"hard": hard}
        if rng.random() < 0.2:
            selected = {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
            spec["scopeSelector"] = {"matchExpressions": [selected]}
            status["used"] = dict.fromkeys(names, "0")
        found.append(_stored("v1", "ResourceQuota", "team", space, spec=spec, status=status))
    return found


def _workload(rng: random.Random, name: str, space: str) -> list[Raw]:
    """The Deployment or StatefulSet, then its pods."""
    kind, wanted = rng.choice(("Deployment", "StatefulSet")), rng.randint(1, 4)
    containers = [_container(rng, one) for one in ("app", "proxy")[: rng.randint(1, 2)]]
    labels = {"app": name}
    spec = {
        "replicas": wanted,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
    }
    status = {"observedGeneration": 1, "replicas": wanted, "updatedReplicas": wanted, "readyReplicas": wanted}
    found = [_stored("apps/v1", kind, name, space, spec=spec, status=status, generation=1)]
    owner = [{"apiVersion": "apps/v1", "kind": kind, "name": name, "controller": True}]
    for number in range(wanted):
        pod = {"containers": containers}
        running = {"phase": "Running"}
        found.append(_stored("v1", "Pod", f"{name}-{number}", space, spec=pod, status=running, ownerReferences=owner))
    return found


def _container(rng: random.Random, name: str) -> Raw:
    cpu, memory = rng.choice(_CPU), rng.choice(_MEMORY)
    limits = {"memory": f"{memory * rng.choice((1, 2))}Mi"}
    if rng.random() < 0.5:
        limits["cpu"] = f"{cpu * 2}m"
    else:
        limits["cpu"] = f"{cpu}m"
    return {"name": name, "image": "app", "resources": {"requests": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"},
            "limits": limits}}  # fmt: skip


def _pool(rng: random.Random) -> list[Raw]:
    """A resource pool with room and claims that have what they ask for, or none."""
    if rng.random() < 0.5:
        return []
    claimed = rng.randint(0, 3)
    conditions = [
        {"type": "Ready", "status": "True", "reason": "Succeeded"},
        {"type": "Exhausted", "status": "False", "reason": "Succeeded"},
        {"type": "Bound", "status": "True", "reason": "InUse"},
    ]
    claims = [
        {"name": f"need-{number}", "uid": f"claim-{number}", "claims": {"services": "1"}} for number in range(claimed)
    ]
    status = {
        "observedGeneration": 1,
        "namespaces": ["team-0"],
        "allocation": {
            "hard": {"services": "4"},
            "used": {"services": str(claimed)},
            "available": {"services": str(4 - claimed)},
        },
        "claims": {"team-0": claims} if claims else {},
        "conditions": conditions[:1],
    }
    api = "capsule.clastix.io/v1beta2"
    spec = {"selectors": [{"matchLabels": {"pool": "gold"}}], "quota": {"hard": {"services": "4"}}}
    found = [_stored(api, "ResourcePool", "gold", "", spec=spec, status=status, uid="pool-1", generation=1)]
    ready = {"pool": {"name": "gold", "uid": "pool-1"}, "conditions": conditions}
    claim = {"pool": "gold", "claim": {"services": "1"}}
    found += (
        _stored(api, "ResourcePoolClaim", one["name"], "team-0", spec=claim, status=ready, uid=one["uid"], generation=1)
        for one in claims
    )
    return found


def _stored(api: str, kind: str, name: str, space: str, **parts: Any) -> Raw:
    """``parts``: spec, status and value; all others are metadata."""
    own = {key: parts.pop(key) for key in ("spec", "status", "value") if key in parts}
    where = {"namespace": space} if space else {}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **where, **parts}, **own}
