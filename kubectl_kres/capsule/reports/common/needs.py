"""Reads for reports about pools and claims; computed again after each reading, since pools name the namespaces.

Only what was asked about is required: a tenant may usually read neither pools nor the claims of others, and an answer
from the claim and its quota alone is a whole one, which says what it could not see.

What an answer about a claim or a pool could not see: never an error, since tenants may read little.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from kubectl_kres.capsule.model import POOL_LABEL, ResourcePool, ResourcePoolClaim, quota_name
from kubectl_kres.capsule.reports.common.claim_state import HELD, WAITING, claim_standing_of
from kubectl_kres.capsule.reports.common.pool_index import PoolIndex
from kubectl_kres.capsule.reports.common.tenancy import DEFINITION
from kubectl_kres.reports.common.explanation import FailedRead, Subject, find_unread
from kubectl_kres.store.store import ReadRequest, Store

#: Namespaces whose claims are read one by one where all of them may not be read at once.
MOST = 50

ALL_POOLS = ReadRequest("ResourcePool", required=False)
_CLAIMS = ReadRequest("ResourcePoolClaim", required=False)
_QUOTAS = ReadRequest("ResourceQuota", label_selector=POOL_LABEL, required=False)
_NAMESPACES = ReadRequest("Namespace", required=False)


def claims_needs(store: Store, spaces: tuple[str, ...]) -> tuple[ReadRequest, ...]:
    """For the claims of some namespaces (none: all): the pools, and who else waits where any of them does."""
    reads = [ReadRequest("ResourcePoolClaim", space) for space in spaces or ("",)]
    reads.append(ALL_POOLS)
    waiting = set[str]()
    for space in spaces or (None,):
        for claim in store.all("ResourcePoolClaim", space):
            pool = claim.status.pool
            # Of a hundred thousand that wait for one pool the first tells.
            if pool is not None and pool.name not in waiting and claim_standing_of(claim).state in WAITING:
                waiting.add(pool.name)
    for name in sorted(waiting):
        reads += _other_claim_requests(store, name)
    return tuple(dict.fromkeys(reads))


def claim_needs(store: Store, space: str, name: str) -> tuple[ReadRequest, ...]:
    """For one claim: the claims beside it, pools, its managed quota, and who else is in the queue."""
    reads = [ReadRequest("ResourcePoolClaim", space, name), ALL_POOLS, DEFINITION]
    claim: ResourcePoolClaim | None = store.get("ResourcePoolClaim", name, space)
    if claim is None:
        return tuple(reads)
    pool = claim.status.pool.name if claim.status.pool is not None else claim.spec.pool
    if pool:
        reads.append(ReadRequest("ResourceQuota", space, quota_name(pool), required=False))
    result = claim_standing_of(claim)
    if result.state == "failed" or (result.state == "unassigned" and not pool):
        reads.append(ReadRequest("Namespace", name=space, required=False))
    if result.state in HELD:
        reads.append(ReadRequest("ResourcePoolClaim", space, required=False))
    else:
        for resource_pool in store.all("ResourcePool"):
            if resource_pool.metadata.name == pool or space in (resource_pool.status.namespaces or ()):
                reads += _other_claim_requests(store, resource_pool.metadata.name)
    return tuple(dict.fromkeys(reads))


def file_needs(store: Store) -> tuple[ReadRequest, ...]:
    """Return what it takes to tell what becomes of pools and claims in files: all that there is beside them."""
    refs = [ref for ref in store.files if ref.kind in {"ResourcePool", "ResourcePoolClaim"}]
    if not refs:
        return ()
    spaces = sorted({ref.namespace for ref in refs if ref.namespace})
    quotas = (ReadRequest("ResourceQuota", space, required=False) for space in spaces)
    return (_NAMESPACES, ALL_POOLS, _CLAIMS, _QUOTAS, *quotas)


def _other_claim_requests(store: Store, pool: str) -> Iterator[ReadRequest]:
    """Yield all claims of a pool's namespaces: in one list, else one by one. Without the pool nobody knows which."""
    resource_pool: ResourcePool | None = store.get("ResourcePool", pool)
    if resource_pool is None:
        return
    spaces = resource_pool.status.namespaces or ()
    if all(store.covered(ReadRequest("ResourcePoolClaim", space)).is_known for space in spaces):
        return
    yield _CLAIMS
    if store.covered(_CLAIMS).state in {"denied", "failed"}:
        yield from (ReadRequest("ResourcePoolClaim", space, required=False) for space in spaces[:MOST])


def pools_needs(store: Store) -> tuple[ReadRequest, ...]:
    """For all pools."""
    reads = [ReadRequest("ResourcePool"), _CLAIMS, _QUOTAS, _NAMESPACES, DEFINITION]
    for resource_pool in store.all("ResourcePool"):
        reads += _other_claim_requests(store, resource_pool.metadata.name)
    return tuple(dict.fromkeys(reads))


def pool_needs(store: Store, name: str) -> tuple[ReadRequest, ...]:
    """For one pool; the others only show where they overlap with it."""
    reads = [ReadRequest("ResourcePool", name=name), ALL_POOLS, _QUOTAS, _NAMESPACES, DEFINITION]
    return tuple(dict.fromkeys([*reads, *_other_claim_requests(store, name)]))


def pooled_needs(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """The reads that the answer depends on; of objects in a file also what their namespaces are."""
    ref, more_reads = subject.ref, file_needs(store)
    if ref.kind == "ResourcePool":
        return (*pool_needs(store, ref.name), *more_reads)
    return (*claim_needs(store, ref.namespace, ref.name), *more_reads)


def unreadable_pool_needs(spaces: tuple[str, ...]) -> tuple[ReadRequest, ...]:
    """Return what still tells of pools that may not be read: the quotas and claims of some namespaces (none: all)."""
    return tuple(
        ReadRequest(kind, space, required=False)
        for space in spaces or ("",)
        for kind in ("ResourceQuota", "ResourcePoolClaim")
    )


def unread_of_claim(context: PoolIndex, claim: ResourcePoolClaim) -> tuple[FailedRead, ...]:
    """Read that an answer about one claim wanted, and that failed or were not allowed."""
    return _list_unseen(context, claim_needs(context.store, claim.metadata.namespace, claim.metadata.name))


def unseen_of_pool(context: PoolIndex, pool: ResourcePool) -> tuple[FailedRead, ...]:
    """Return the same for a pool."""
    return _list_unseen(context, pool_needs(context.store, pool.metadata.name))


def _list_unseen(context: PoolIndex, reads: tuple[ReadRequest, ...]) -> tuple[FailedRead, ...]:
    """Return what could not be read; a refused list over all namespaces does not count where each namespace was
    read.
    """
    # The version is only for a remark, and no part of the answer.
    needed = tuple(read for read in reads if read != DEFINITION)
    all_unread = find_unread(context.store, (read for read in needed if not _is_replaced(context, read, reads)))
    return tuple(
        structs.replace(failed_read, required=failed_read.required or failed_read.state == "failed")
        for failed_read in all_unread
    )


def further_failed_reads(context: PoolIndex) -> tuple[FailedRead, ...]:
    """Return further reads that failed: a user who may not read them gets a whole answer, one whose read failed does
    not.
    """
    reads = tuple(context.store.coverages())
    return tuple(
        failed_read
        for failed_read in _list_unseen(context, tuple(read for read in reads if not read.required))
        if failed_read.state == "failed"
    )


def is_whole(failed_reads: tuple[FailedRead, ...]) -> bool:
    """Return whether an answer is complete without these."""
    return not any(failed_read.required for failed_read in failed_reads)


def _is_replaced(context: PoolIndex, read: ReadRequest, reads: tuple[ReadRequest, ...]) -> bool:
    if read.kind != "ResourcePoolClaim" or read.namespace or read.name:
        return False
    narrower = [item for item in reads if item.kind == read.kind and item.namespace and not item.name]
    # The namespaces that were asked for anyway are no more than the user named.
    return any(not read.required for read in narrower) and all(
        context.store.covered(read).is_known for read in narrower
    )
