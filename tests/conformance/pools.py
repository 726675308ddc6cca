"""Pools, claims and managed quotas as the recordings show them, part by part, so that each part is compared or not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kubectl_kres.capsule.model import ResourcePool, ResourcePoolClaim
from kubectl_kres.capsule.replay.metrics import lines
from kubectl_kres.capsule.replay.world import PoolWorld
from kubectl_kres.model.objects import ResourceQuota

Data = Mapping[str, Any]

PARTS = (
    "pools.status", "pools.spec", "pools.generation", "pools.finalizers",
    "claims.status", "claims.spec.pool", "claims.generation", "claims.ownerReferences",
    "claims.annotations", "claims.labels",
    "resourceQuotas.labels", "resourceQuotas.spec", "resourceQuotas.status", "resourceQuotas.ownerReferences",
)  # fmt: skip

METRICS = {
    "metrics.claim_condition": "Capsule writes them only when a claim is created or its spec changes, so they are old",
    "metrics.stale": "Capsule forgets to remove series: of what a namespace claims no more, of the pool that a claim "
    "named before, of exhaustions that ended, the conditions of a pool that has nothing any more",
}

_FINALIZER = "controller.projectcapsule.dev/finalize"
_LABEL = re.compile(r'(\w+)="([^"]*)"')


def flat(state: Data) -> dict[str, Any]:
    """The parts of a state, each with its value by object; None: the object is gone."""
    found: dict[str, Any] = {}
    for part in PARTS:
        group, _, key = part.partition(".")
        held = {
            name: None if item is None else _normal(item[key])
            for name, item in (state.get(group) or {}).items()
            if item is None or key in item
        }
        found[part] = held
    return found


def metrics_of(end: Data) -> dict[str, dict[str, str]]:
    """The series that count with their values, and those that deviate on purpose."""
    if "metrics" not in end:
        return {}
    found: dict[str, dict[str, str]] = {"metrics": {}, **{key: {} for key in METRICS}}
    for line in end["metrics"]:
        series, _, value = line.rpartition(" ")
        if series.startswith("capsule_claim_condition"):
            found["metrics.claim_condition"][series] = value
        elif _is_stale(end, series):
            found["metrics.stale"][series] = value
        else:
            found["metrics"][series] = value
    return {key: held for key, held in found.items() if held or key == "metrics"}


def _is_stale(end: Data, series: str) -> bool:
    """Whether a series speaks of what is no more."""
    name, _, rest = series.partition("{")
    labels = dict(_LABEL.findall(rest))
    pool = (end["pools"].get(labels["pool"]) or {"status": {}})["status"] if "pool" in labels else {}
    match name:
        case "capsule_pool_namespace_usage" | "capsule_pool_namespace_usage_percentage":
            return labels["resource"] not in _claimed(end, labels["pool"], labels["target_namespace"])
        case "capsule_pool_condition":
            return not (pool.get("allocation") or {}).get("hard")
        case "capsule_pool_exhaustion" | "capsule_pool_exhaustion_percentage":
            return labels["resource"] not in (pool.get("exhaustions") or {})
        case "capsule_claim_pool":
            claim = end["claims"].get(f"{labels['target_namespace']}/{labels['name']}") or {}
            named = {(claim.get("status") or {}).get("pool", {}).get("name"), claim.get("spec.pool")}
            return labels["pool"] not in named
        case _:
            return False


def _claimed(end: Data, pool: str, space: str) -> set[str]:
    """What claims hold of a pool in a namespace."""
    status = (end["pools"].get(pool) or {"status": {}})["status"]
    return {name for one in (status.get("claims") or {}).get(space, ()) for name in one.get("claims", {})}


def _normal(value: Any) -> Any:
    """Conditions by type, and lists in a message sorted where their order is random: queued lines, field errors.

    The allocation of a pool that has nothing is there or not, by what the pool had before.
    """
    if isinstance(value, Mapping):
        found = {key: _normal(item) for key, item in value.items()}
        if found.get("reason") == "QueueExhausted":
            found["message"] = "; ".join(sorted(found["message"].split("; ")))
        if found.get("message", "").startswith("sync resourcequotas: ") and "[" in found["message"]:
            head, _, errors = found["message"].partition(": [")
            found["message"] = [head, *sorted(re.split(r", (?=spec\.)", errors.removesuffix("]")))]
        if found.get("allocation") == {}:
            del found["allocation"]
        if "conditions" in found:
            found["conditions"] = {one["type"]: one for one in found["conditions"]}
        return found
    return [_normal(item) for item in value] if isinstance(value, list | tuple) else value


def state(world: PoolWorld, created: Iterable[str]) -> dict[str, Any]:
    """The engine's world in the shape of a recorded state. ``created``: UIDs of all that there ever was."""
    pools = {uid.partition("/")[2]: None for uid in created if uid.startswith("uid:ResourcePool/")}
    claims = {uid.partition("/")[2]: None for uid in created if uid.startswith("uid:ResourcePoolClaim/")}
    return {
        "pools": {**pools, **{name: _pool(pool) for name, pool in world.pools.items()}},
        "claims": {**claims, **{"/".join(key): _claim(claim) for key, claim in world.claims.items()}},
        "resourceQuotas": {"/".join(key): _quota(quota) for key, quota in world.quotas.items()},
    }


def metric_lines(world: PoolWorld) -> list[str]:
    """The engine's metrics."""
    return list(lines(world))


def _pool(pool: ResourcePool) -> dict[str, Any]:
    """With what the server shows though it is empty, and the finalizer of a pool that has something to clean up."""
    config = {"defaultsZero": False, "deleteBoundResources": False, "orderedQueue": False}
    spec, status = msgspec.to_builtins(pool.spec), msgspec.to_builtins(pool.status)
    busy = pool.status.namespaces or pool.status.claim_count
    return {
        "status": {"claimCount": 0, "namespaceCount": 0, "allocation": {}, **status},
        "spec": {"quota": {}, **spec, "config": {**config, **spec.get("config", {})}},
        "generation": pool.metadata.generation,
        **({"finalizers": [_FINALIZER]} if busy else {}),
    }


def _claim(claim: ResourcePoolClaim) -> dict[str, Any]:
    meta = msgspec.to_builtins(claim.metadata)
    shown = {key: meta[key] for key in ("ownerReferences", "annotations", "labels") if key in meta}
    found = {"status": msgspec.to_builtins(claim.status), "spec.pool": claim.spec.pool}
    return {**found, "generation": claim.metadata.generation, **shown}


def _quota(quota: ResourceQuota) -> dict[str, Any]:
    """The owner's ``blockOwnerDeletion`` is always recorded as true, and read by nothing here."""
    meta = msgspec.to_builtins(quota.metadata)
    owners = [{**one, "blockOwnerDeletion": True} for one in meta.get("ownerReferences", ())]
    return {
        "labels": meta.get("labels", {}),
        "spec": msgspec.to_builtins(quota.spec),
        "status": msgspec.to_builtins(quota.status),
        "ownerReferences": owners,
    }
