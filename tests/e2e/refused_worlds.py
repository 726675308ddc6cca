"""Workloads that policies refuse, made up by a seed: what is refused, by what, and how the namespace came to it."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, structs

Raw = dict[str, Any]

KATA: Raw = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "advice-kata"},
    "handler": "kata",
    "overhead": {"podFixed": {"cpu": "50m", "memory": "32Mi"}},
}
_LABELS = {"app": "web"}
#: The label of workloads that compete.
BESIDE = "other"
_CPU = (50, 100, 200, 300, 500, 700, 1000)
_MEMORY = (32, 64, 100, 128, 256, 512)


class World(Struct):
    """``before``: the workload as it ran before, without policies; None: it is new. ``workload``: as it is now.

    ``beside``: other workloads, which are there first.
    """

    seed: int
    kind: str
    wanted: int
    workload: Raw
    policies: list[Raw]
    before: Raw | None = None
    beside: Sequence[Raw] = ()


def world(seed: int) -> World:
    """Some of them are let in: with them there is nothing to try."""
    rng = random.Random(f"advice/{seed}")
    kinds = ["Deployment"] * 7 + ["Rollout"] * 4 + ["StatefulSet"] * 3 + ["Job"] * 3 + ["CronJob", "ReplicaSet", "Pod"]
    kind = rng.choice(kinds)
    wanted = 1 if kind == "Pod" else rng.randint(1, 4)
    spec = _pod_spec(rng)
    rollout = kind == "Rollout"
    kind = "Deployment" if rollout else kind
    workload = _workload(rng, kind, wanted, spec)
    before = None
    if rollout:
        before = copy.deepcopy(workload)
        for one in before["spec"]["template"]["spec"]["containers"]:
            one["resources"] = {
                "requests": {"cpu": "50m", "memory": "32Mi"},
                "limits": {"cpu": "50m", "memory": "32Mi"},
            }
        before["spec"]["template"]["spec"].pop("resources", None)
        before["spec"]["template"]["spec"].pop("initContainers", None)
    ranges = [_limit_range(rng, f"lr{index}", kind) for index in range(rng.choice((0, 0, 1, 1, 2, 3)))]
    quotas = [_quota(rng, f"q{index}", kind, wanted) for index in range(rng.choice((0, 1, 1, 2, 3)))]
    return World(seed, kind, wanted, workload, [*ranges, *quotas], before)


def contested(seed: int) -> World:
    """A new workload beside one or two that quotas refuse, too, as far as the seed brings it."""
    found = next(one for one in map(world, range(seed * 1000, seed * 1000 + 1000)) if _may_compete(one))
    rng = random.Random(f"contested/{seed}")
    others = []
    for number in range(rng.choice((1, 1, 2))):
        raw = _workload(
            rng, rng.choice(("Deployment", "Deployment", "StatefulSet", "Job")), rng.randint(1, 3), _pod_spec(rng)
        )
        raw["metadata"] = {"name": f"other{number}"}
        raw["spec"]["template"]["metadata"] = {"labels": {"app": BESIDE, "number": str(number)}}
        if "selector" in raw["spec"]:
            raw["spec"]["selector"] = {"matchLabels": raw["spec"]["template"]["metadata"]["labels"]}
        others.append(raw)
    return structs.replace(found, beside=others)


def _may_compete(one: World) -> bool:
    quotas = [it for it in one.policies if it["kind"] == "ResourceQuota"]
    return one.before is None and one.kind not in {"Pod", "CronJob"} and bool(quotas)


def _pod_spec(rng: random.Random) -> Raw:
    containers = [_container(rng, name) for name in ("a", "b")[: rng.choice((1, 1, 2))]]
    spec: Raw = {"containers": containers}
    if rng.random() < 0.25:
        init = _container(rng, "i")
        if rng.random() < 0.5:
            init["restartPolicy"] = "Always"
        spec["initContainers"] = [init]
    if rng.random() < 0.15:
        spec["resources"] = _resources(rng, scale=3)
    if rng.random() < 0.12:
        spec["runtimeClassName"] = "advice-kata"
    return spec


def _container(rng: random.Random, name: str) -> Raw:
    return {"name": name, "image": "registry.invalid/none:1", "resources": _resources(rng)}


def _resources(rng: random.Random, scale: int = 1) -> Raw:
    found: Raw = {}
    for name, amounts, unit in (("cpu", _CPU, "m"), ("memory", _MEMORY, "Mi")):
        request, limit = sorted(rng.choice(amounts) * scale for _ in range(2))
        if rng.random() < 0.65:
            found.setdefault("requests", {})[name] = f"{request}{unit}"
        if rng.random() < 0.5:
            found.setdefault("limits", {})[name] = f"{limit}{unit}"
    return found


def _workload(rng: random.Random, kind: str, wanted: int, spec: Raw) -> Raw:
    meta = {"name": "web"}
    template = {"metadata": {"labels": _LABELS}, "spec": spec}
    selector = {"matchLabels": _LABELS}
    match kind:
        case "Pod":
            return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        case "Job" | "CronJob":
            spec["restartPolicy"] = "Never"
            job = {"parallelism": wanted, "completions": wanted, "backoffLimit": 100, "template": template}
            if kind == "Job":
                return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": job}
            schedule = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": job}}
            return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta, "spec": schedule}
        case "StatefulSet":
            body: Raw = {"replicas": wanted, "serviceName": "web", "selector": selector, "template": template}
            if rng.random() < 0.5:
                body["podManagementPolicy"] = "Parallel"
            if rng.random() < 0.7:
                size = f"{rng.choice((1, 2, 5))}Gi"
                claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
                body["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": claim}]
            return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": body}
    body = {"replicas": wanted, "selector": selector, "template": template}
    if kind == "Deployment":
        body["strategy"] = rng.choice(
            [
                {"type": "RollingUpdate"},
                {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
                {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
                {"type": "Recreate"},
            ]
        )
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": body}


def _limit_range(rng: random.Random, name: str, kind: str) -> Raw:
    items = [_item(rng, rng.choice(("Container", "Container", "Pod")))]
    if kind == "StatefulSet" and rng.random() < 0.5:
        items.append({"type": "PersistentVolumeClaim", rng.choice(("min", "max")): {"storage": "2Gi"}})
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": name}, "spec": {"limits": items}}


def _item(rng: random.Random, kind: str) -> Raw:
    item: Raw = {"type": kind}
    for name, amounts, unit in (("cpu", _CPU, "m"), ("memory", _MEMORY, "Mi")):
        low, request, limit, high = sorted(rng.choice(amounts) for _ in range(4))
        fields = {"min": (low, 0.3), "max": (high, 0.3)}
        if kind == "Container":
            fields |= {"defaultRequest": (request, 0.3), "default": (limit, 0.4)}
        for field, (amount, chance) in fields.items():
            if rng.random() < chance:
                item.setdefault(field, {})[name] = f"{amount}{unit}"
        if rng.random() < 0.12 and "min" not in item and "max" not in item:
            item.setdefault("maxLimitRequestRatio", {})[name] = rng.choice(("1", "2", "4"))
    return item


def _quota(rng: random.Random, name: str, kind: str, wanted: int) -> Raw:
    hard: dict[str, str] = {}
    names = ["requests.cpu", "limits.cpu", "cpu", "requests.memory", "limits.memory", "memory", "pods", "count/pods"]
    if kind == "StatefulSet":
        names += ["persistentvolumeclaims", "requests.storage", "count/persistentvolumeclaims"] * 2
    for one in rng.sample(names, rng.randint(1, 3)):
        if one.endswith("cpu"):
            hard[one] = f"{rng.choice((0, 50, 100, 200, 400, 800, 1500, 3000))}m"
        elif one.endswith("memory"):
            hard[one] = f"{rng.choice((0, 32, 64, 128, 256, 512, 1024, 2048))}Mi"
        elif one == "requests.storage":
            hard[one] = f"{rng.choice((0, 1, 2, 5, 12))}Gi"
        else:
            hard[one] = str(rng.randint(0, wanted + 2))
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": hard}}
