"""Pools and claims of files as Capsule would make them: created one after the other beside what exists.

Where the order of creation decides, ``Prediction`` says what depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import structs

from kubectl_kres.admission.base.outcome import Refusal
from kubectl_kres.capsule.model import ResourcePoolClaim
from kubectl_kres.capsule.replay.events import Create, PatchEvent, WorldEvent, replay, replay_all
from kubectl_kres.capsule.replay.object_events import created_together
from kubectl_kres.capsule.replay.world import PoolWorld, build_pool_world, distinct_worlds
from kubectl_kres.capsule.reports.claim.claims import ClaimReport
from kubectl_kres.capsule.reports.common.claim_state import HELD, claim_standing_of
from kubectl_kres.capsule.reports.unblock.actions import ref_of
from kubectl_kres.capsule.rules.allocation import ClaimKey, key_of, queue_key
from kubectl_kres.model.objects import ManagedMetadata, Namespace, ObjectRef
from kubectl_kres.simulate.change import difference
from kubectl_kres.simulate.live import raw_of
from kubectl_kres.store.store import READ, ReadRequest, Store
from kubectl_kres.wording import join_some

#: So many claims are each tried as the first; so many the other way round; of more it is only looked at what comes of
#: all at once.
_FIRST, _REVERSED = 12, 200

#: In this order they are created.
_KINDS = ("Namespace", "ResourcePool", "ResourcePoolClaim")
_KEPT = ("Namespace", "ResourcePool", "ResourcePoolClaim", "ResourceQuota")
_NAME_LABEL = "kubernetes.io/metadata.name"
_UNDECIDED = "not certain: it depends on which claims of the files come first"
#: Undecided claims that are named.
_NAMED = 5
#: Worlds that are followed where the choice of a pool is open.
_MOST = 16


class Prediction(NamedTuple):
    """The store with what the controllers make of the files. ``refused``: the server's words for what it does not take.

    made: pools and claims that do not exist yet. assumptions: what had to be supposed. undecided: claims that get what
    they ask for, or wait, by the order in which those of the files arrive.
    """

    store: Store
    created: frozenset[ObjectRef] = frozenset()
    refused: Mapping[ObjectRef, str] = {}
    assumptions: tuple[str, ...] = ()
    undecided: frozenset[ObjectRef] = frozenset()

    def add_prediction(self, ref: ObjectRef, report: ClaimReport) -> ClaimReport:
        """Return a claim's report that says whether it is predicted, and for sure."""
        if ref not in self.created:
            return report
        if ref not in self.undecided:
            return structs.replace(report, predicted=True)
        return structs.replace(report, predicted=True, certain=False, notes=(*report.notes, _UNDECIDED))


def build_prediction(store: Store) -> Prediction:
    """Return the very store if no file holds a pool or claim without status; one with a status is taken as it is."""
    created_refs = {
        ref
        for ref in store.files
        if ref.kind in _KINDS[1:]
        and (ref in store.beneath or _has_no_conditions(store.get(ref.kind, ref.name, ref.namespace)))
    }
    if not created_refs:
        return Prediction(store)
    supposed = [*_unread_namespace_remarks(store, created_refs)]
    worlds: tuple[PoolWorld, ...] = (_build_world(store, created_refs),)
    refused: dict[ObjectRef, str] = {}
    begun, claims = worlds[0], list[ResourcePoolClaim]()
    order = {ref: number for number, ref in enumerate(store.files)}
    for ref in sorted(created_refs, key=lambda object_ref: (_KINDS.index(object_ref.kind), order[object_ref])):
        begun = begun if claims else worlds[0]
        outcomes = [world_outcome for world in worlds for world_outcome in replay(world, _event(store, ref))]
        text = next((_format_refusal(outcome.refusal) for outcome in outcomes if outcome.refusal is not None), "")
        if text:
            refused[ref] = text
        elif ref.kind == "ResourcePoolClaim" and ref not in store.beneath:
            claims.append(_item(store, ref))
        worlds = distinct_worlds(outcome.world for outcome in outcomes)[:_MOST]
    if len(worlds) > 1:
        supposed.append(
            f"{len(worlds)} outcomes are possible, since the choice among equal pools is random: this is one"
        )
    doubtful = frozenset(map(ref_of, undecided_claims(begun, claims, worlds)))
    if doubtful:
        supposed.append(
            "the claims of the files come one after the other, in their order there, and each is looked at before the "
            f"next one comes; else others may get in: {join_some(sorted(ref.key for ref in doubtful), _NAMED)}"
        )
    after = _build_store(store, worlds[0])
    new = frozenset(created_refs) - refused.keys()
    return Prediction(after, new, refused, tuple(supposed), doubtful)


def _format_refusal(refusal: Refusal) -> str:
    """Return the server's words, and the field that it does not name."""
    paths = [finding.path for finding in refusal.findings if finding.path and finding.path not in refusal.message]
    return f"{refusal.message} ({', '.join(paths)})" if paths else refusal.message


def _has_no_conditions(item: Any) -> bool:
    return not (item.status.conditions or getattr(item.status, "condition", None))


def _event(store: Store, ref: ObjectRef) -> WorldEvent:
    """Return what exists is edited, and keeps its time of creation, its status and its place; what does not is
    created.
    """
    item, result = _item(store, ref), store.beneath.get(ref)
    if result is None:
        return Create(item)
    return PatchEvent(ref.kind, ref.name, difference(raw_of(result), raw_of(item)), ref.namespace)


def _item(store: Store, ref: ObjectRef) -> Any:
    return store.get(ref.kind, ref.name, ref.namespace)


def _build_world(store: Store, created_refs: Iterable[ObjectRef]) -> PoolWorld:
    """Return what there is without the files: of a namespace that was not read the name alone is known."""
    gone = set(created_refs)

    def existing_objects(kind: str) -> Iterable[Any]:
        for item in store.all(kind):
            ref = ObjectRef(kind, item.metadata.name, item.metadata.namespace)
            if ref not in gone:
                yield item
            elif ref in store.beneath:
                yield store.beneath[ref]

    spaces = {namespace.metadata.name: namespace for namespace in map(_add_name_label, store.all("Namespace"))}
    for ref in created_refs:
        if ref.namespace and ref.namespace not in spaces:
            spaces[ref.namespace] = _add_name_label(Namespace(ManagedMetadata(ref.namespace)))
    return build_pool_world(
        spaces.values(),
        existing_objects("ResourcePool"),
        existing_objects("ResourcePoolClaim"),
        existing_objects("ResourceQuota"),
    )


def _add_name_label(namespace: Namespace) -> Namespace:
    """With the label that the API server gives every namespace."""
    meta = namespace.metadata
    labels = {_NAME_LABEL: meta.name, **(meta.labels or {})}
    return structs.replace(namespace, metadata=structs.replace(meta, labels=labels))


def _unread_namespace_remarks(store: Store, created_refs: Iterable[ObjectRef]) -> Iterable[str]:
    names = sorted(
        {ref.namespace for ref in created_refs if ref.namespace and store.get("Namespace", ref.namespace) is None}
    )
    if names:
        yield f"namespace {', '.join(names)} is taken to exist, without labels but its name: it was not read"


def _build_store(store: Store, world: PoolWorld) -> Store:
    """Return the objects of a world as a store, with what is known of the old one."""
    result = Store(store.origin)
    result.files.update(store.files)
    for read, coverage in store.coverages().items():
        result.cover(read, coverage)
    for kind in store.kinds():
        if kind not in _KEPT:
            for item in store.all(kind):
                result.add(kind, item)
    if store.origin.kind == "files":
        # Nothing else is read: the namespaces that were supposed are all there are.
        for read in (ReadRequest("Namespace"), *(read for read in store.coverages() if read.kind == "Namespace")):
            result.cover(read, READ)
    outcome = (world.namespaces.values(), world.pools.values(), world.claims.values(), world.quotas.values())
    for items in outcome:
        for item in items:
            result.add(item.kind, item)
    return result


def undecided_claims(
    world: PoolWorld, claims: Sequence[ResourcePoolClaim], after: Sequence[PoolWorld]
) -> tuple[ClaimKey, ...]:
    """Return those claims, in the queue's order.

    ``world``: without the claims. ``after``: what can come of their order in the files. Beside it are tried: all at
    once, the other way round, and each as the first. A controller looks at claims when it gets to it, not when they
    come: recorded were all of these for three claims of one file.
    """
    pairs: set[ClaimKey] = set()
    base = _find_bound_claims(after[0], claims)
    for other in (*after[1:], *(_orders(world, claims) if len(claims) > 1 else ())):
        pairs |= {key for key, item in _find_bound_claims(other, claims).items() if item != base.get(key)}
    return tuple(key_of(claim) for claim in sorted(claims, key=queue_key) if key_of(claim) in pairs)


def _orders(world: PoolWorld, claims: Sequence[ResourcePoolClaim]) -> Iterator[PoolWorld]:
    yield from (world_outcome.world for world_outcome in created_together(world, claims)[:1])
    if len(claims) <= _REVERSED:
        yield from _after(world, reversed(claims))
    for first in claims[1:] if len(claims) <= _FIRST else ():
        yield from _after(world, (first, *(claim for claim in claims if claim is not first)))


def _after(world: PoolWorld, claims: Iterable[ResourcePoolClaim]) -> Iterator[PoolWorld]:
    yield from replay_all(world, [Create(claim) for claim in claims])[:1]


def _find_bound_claims(world: PoolWorld, claims: Iterable[ResourcePoolClaim]) -> dict[ClaimKey, bool]:
    keys = map(key_of, claims)
    return {
        key: claim_standing_of(resource_pool_claim).state in HELD
        for key in keys
        if (resource_pool_claim := world.claims.get(key)) is not None
    }
