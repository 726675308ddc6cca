"""What Capsule's webhooks and controllers write into the demo: none of them runs, so kres' own engine says what it is.

The quotas that it writes are the API server's; what they count is counted by the real controller.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kube import DemoError, Kube, Object, documents, key_of
from msgspec import structs, to_builtins
from statuses import now, stated

from kubectl_kres.capsule.model import ResourcePool
from kubectl_kres.capsule.replay.events import Create, PatchEvent, WorldEvent, replay
from kubectl_kres.capsule.replay.reconcile import settle_world
from kubectl_kres.capsule.replay.world import PoolWorld, build_pool_world, without_keys
from kubectl_kres.capsule.rules.webhooks import stored_claim, stored_pool
from kubectl_kres.model.kinds import BY_KIND
from kubectl_kres.model.objects import decode_object

ML = Path(__file__).parent / "ml"
CONTROLLER, PERSON, GITOPS = "capsule", "kubectl-edit", "argocd-controller"
READ = ("Namespace", "ResourcePool", "ResourcePoolClaim", "ResourceQuota")
#: The parts of an object's metadata that Capsule writes.
WRITTEN = ("labels", "annotations", "owner_references")


def share(kube: Kube) -> None:
    """The pools and the first claims, one after the other."""
    belong(kube)
    for file in ("pools.yaml", "claims.yaml"):
        for item in documents(ML / file):
            send(kube, item)
    print("shared ml/pools.yaml, ml/claims.yaml", flush=True)


def go_on(kube: Kube) -> None:
    """What people do when the first claims are used: two are changed, then more is asked for than there is."""
    count(kube)
    for change in documents(ML / "changes.yaml"):
        metadata = change["metadata"]
        event = PatchEvent(change["kind"], metadata["name"], change["patch"], metadata["namespace"])
        found = Seen(kube)
        write(kube, found, outcome(found.world, event), PERSON)
    for item in documents(ML / "waiting.yaml"):
        next_second()
        send(kube, item)
    print("shared ml/changes.yaml, ml/waiting.yaml", flush=True)


def count(kube: Kube) -> None:
    """Every pool is reconciled, as when its quotas have been counted."""
    found = Seen(kube)
    write(kube, found, settle_world(found.world, pools=found.world.pools)[0], CONTROLLER)


class Seen:
    """All that Capsule looks at: as the engine takes it, and as the server gave it."""

    def __init__(self, kube: Kube) -> None:
        items = kube.items(",".join(BY_KIND[kind].qualified_name for kind in READ))
        self.raw = {(item["kind"], *key_of(item)): item for item in items}
        decoded = ([decode_object(one, BY_KIND[kind].struct) for one in items if one["kind"] == kind] for kind in READ)
        self.world = build_pool_world(*decoded)


def belong(kube: Kube) -> None:
    """The tenant's status: which namespaces carry its label."""
    for tenant in kube.items("tenants.capsule.clastix.io"):
        name = tenant["metadata"]["name"]
        spaces = [item["metadata"]["name"] for item in kube.items("ns", "-l", f"capsule.clastix.io/tenant={name}")]
        ready = stated("Ready", "True", "Succeeded", "reconciled")
        status = {"namespaces": spaces, "size": len(spaces), "state": "Active", "conditions": [ready]}
        kube.put(f"{path_of(tenant)}/status", {**tenant, "status": status}, CONTROLLER)


def send(kube: Kube, item: Object) -> None:
    """Apply a pool or a claim as the webhooks leave it, then write what its controllers make of it."""
    kind = BY_KIND[item["kind"]]
    sent = decode_object(item, kind.struct)
    if isinstance(sent, ResourcePool):
        stored = stored_pool(sent)
    else:
        [stored] = stored_claim(sent, Seen(kube).world.pools.values())
    kube.apply([{**item, "spec": to_builtins(stored.spec)}], GITOPS)
    found = Seen(kube)
    made = decode_object(found.raw[item["kind"], *key_of(item)], kind.struct)
    write(kube, found, outcome(without(found.world, made), Create(made)), CONTROLLER)


def without(world: PoolWorld, item: Any) -> PoolWorld:
    if isinstance(item, ResourcePool):
        return structs.replace(world, pools=without_keys(world.pools, item.metadata.name))
    return structs.replace(world, claims=without_keys(world.claims, (item.metadata.namespace, item.metadata.name)))


def outcome(world: PoolWorld, event: WorldEvent) -> PoolWorld:
    """The one world that follows. Raises DemoError: the demo has no races and no refusals of Capsule's."""
    found = replay(world, event)
    if len(found) != 1 or found[0].refusal is not None:
        raise DemoError(f"{event} has {len(found)} outcomes: {[one.refusal for one in found]}")
    return found[0].world


def write(kube: Kube, seen: Seen, wanted: PoolWorld, manager: str) -> None:
    """Make the server hold what ``wanted`` says. ``manager``: of changes to a pool or claim itself."""
    for old, new in changes(seen.world, wanted):
        kind, key = new.kind, (new.metadata.namespace, new.metadata.name)
        raw = seen.raw.get((kind, *key))
        if raw is None:
            made = {"apiVersion": new.api_version, "kind": kind, "metadata": {"namespace": key[0], "name": key[1]}}
            kube.post(path_of(made, collection=True), laid_over(made, new), CONTROLLER)
            continue
        if old is None or own(old) != own(new):
            raw = kube.put(path_of(raw), laid_over(raw, new), CONTROLLER if kind == "ResourceQuota" else manager)
        if kind != "ResourceQuota" and (old is None or old.status != new.status):
            kube.put(f"{path_of(raw)}/status", {**raw, "status": timed(to_builtins(new.status))}, CONTROLLER)


def changes(before: PoolWorld, after: PoolWorld) -> Iterator[tuple[Any, Any]]:
    """Pools, claims and quotas that differ. None of the demo's is ever deleted."""
    pairs: tuple[tuple[Mapping[Any, Any], Mapping[Any, Any]], ...] = (
        (before.quotas, after.quotas),
        (before.claims, after.claims),
        (before.pools, after.pools),
    )
    for old, new in pairs:
        yield from ((old.get(key), item) for key, item in new.items() if old.get(key) != item)


def own(item: Any) -> tuple[Any, ...]:
    """What Capsule can change of an object, its status apart."""
    return (item.spec, *(getattr(item.metadata, part) for part in WRITTEN))


def laid_over(raw: Object, item: Any) -> Object:
    """The object with what Capsule says of it."""
    said = to_builtins(structs.replace(item.metadata, managed_fields=None))
    kept = {key: value for key, value in raw["metadata"].items() if key not in {"labels", "annotations"}}
    parts = {key: said[key] for key in ("labels", "annotations") if key in said}
    owners = owned(said.get("ownerReferences", ()), kept.pop("ownerReferences", ()))
    return {
        **raw,
        "metadata": {**kept, **parts, **({"ownerReferences": owners} if owners else {})},
        "spec": to_builtins(item.spec),
    }


def owned(wanted: list[Object], held: list[Object]) -> list[Object]:
    """Owner references with what the server keeps of those that it has."""
    by_uid = {one["uid"]: one for one in held}
    return [{**by_uid.get(one["uid"], {}), **one} for one in wanted]


def timed(status: Object) -> Object:
    """The status with the time in each condition that has none yet: it became so just now."""
    said = [{"lastTransitionTime": now(), **one} for one in status.get("conditions", ())]
    return {**status, "conditions": said}


def path_of(item: Object, *, collection: bool = False) -> str:
    namespace, name = key_of(item)
    return BY_KIND[item["kind"]].path(namespace, "" if collection else name)


def next_second() -> None:
    """Wait until the clock shows another second: the queue goes by whole seconds, then by names."""
    time.sleep(1.0)
