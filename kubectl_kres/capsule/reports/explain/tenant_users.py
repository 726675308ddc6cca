"""Who uses what the quotas in a Tenant's namespaces allow: namespace, quota, workload, pod, value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter

from msgspec import structs

from kubectl_kres.admission.base.server import Server
from kubectl_kres.capsule.model import Tenant
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.quantity import ZERO, parse
from kubectl_kres.reports.common.explanation import Unseen, unread
from kubectl_kres.reports.common.record import Record
from kubectl_kres.reports.common.resource_lists import percent_of
from kubectl_kres.reports.common.subject import Ask, Subject
from kubectl_kres.reports.pod.manifest_source import missing
from kubectl_kres.reports.quota.counted import counting_needs, owner_needs
from kubectl_kres.reports.quota.quota_report import used_by
from kubectl_kres.reports.quota.usage_tree import UsageNode, above, setter_needs, with_shares
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store


class TenantUsers(Record, frozen=True):
    """``names``: of all quotas of the namespaces, that of the fullest one first. ``tree``: a node a namespace, with
    shares of what the Tenant uses.
    """

    tenant: ObjectRef
    namespaces: tuple[str, ...]
    names: tuple[str, ...] = ()
    tree: tuple[UsageNode, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    complete: bool = True


def users_needs(store: Store, subject: Subject, server: Server) -> Iterator[Need]:
    """The Tenant, and what counts in its namespaces and set the values there, as far as that is known by now."""
    yield Need("Tenant", name=subject.ref.name)
    tenant = store.get("Tenant", subject.ref.name)
    for space in sorted(tenant.status.namespaces or ()) if isinstance(tenant, Tenant) else ():
        yield Need("ResourceQuota", space)
        yield from counting_needs(list(store.all("ResourceQuota", space)), server, space)
        yield Need("LimitRange", space)
        yield from owner_needs(store, space)
        yield from setter_needs(store, space)


def tenant_users(store: Store, subject: Subject, ask: Ask) -> TenantUsers:
    """Raises NotFound or Forbidden if the Tenant cannot be had, UsageError where an object has what is no quantity."""
    tenant = store.get("Tenant", subject.ref.name)
    if not isinstance(tenant, Tenant):
        raise missing(store, subject)
    spaces = tuple(sorted(tenant.status.namespaces or ()))
    tree = with_shares(tuple(filter(None, (_namespace(store, space, ask) for space in spaces))))
    unseen = tuple(dict.fromkeys(unread(store, users_needs(store, subject, ask.server))))
    whole = not any(gap.required for gap in unseen)
    return TenantUsers(ObjectRef("Tenant", tenant.metadata.name), spaces, _names(tree), tree, unseen, whole)


def _namespace(store: Store, space: str, ask: Ask) -> UsageNode | None:
    """Of what several of its quotas count each object is counted once. None: it has no quota."""
    quotas: list[ResourceQuota] = sorted(store.all("ResourceQuota", space), key=attrgetter("metadata.name"))
    if not quotas:
        return None
    inside = tuple(_quota(store, quota, ask) for quota in quotas)
    once: dict[str, UsageNode] = {}
    for node in inside:
        for part in _counted(node.inside):
            known = once.get(part.who)
            both = {**known.usage, **part.usage} if known is not None else part.usage
            once[part.who] = structs.replace(part, usage=both)
    result = above(list(once.values()), f"Namespace/{space}", ObjectRef("Namespace", space))
    return structs.replace(result, inside=inside)


def _quota(store: Store, quota: ResourceQuota, ask: Ask) -> UsageNode:
    name, hard = quota.metadata.name, quota.status.hard or quota.spec.hard or {}
    ref = ObjectRef("ResourceQuota", name, quota.metadata.namespace)
    result = above(used_by(store, quota, ask), f"ResourceQuota/{name}", ref)
    return structs.replace(result, hard={key: str(hard[key]) for key in sorted(hard)})


def _counted(nodes: Iterable[UsageNode]) -> Iterator[UsageNode]:
    """The pods, and what else is counted."""
    for node in nodes:
        below = node.inside if node.subject is None or node.subject.kind != "Pod" else ()
        yield from _counted(below) if below else (node,)


def _names(tree: Iterable[UsageNode]) -> tuple[str, ...]:
    """Those that quotas count, by the fullest of these; what has nothing to give is full."""
    shares: dict[str, int] = {}
    for quota in (quota for node in tree for quota in node.inside):
        for name, share in _shares(quota):
            shares[name] = max(shares.get(name, 0), share)
    return tuple(sorted(shares, key=lambda name: (-shares[name], name)))


def _shares(quota: UsageNode) -> Iterator[tuple[str, int]]:
    hard: Mapping[str, str] = quota.hard
    for name, most in hard.items():
        used = parse(quota.usage[name]) if name in quota.usage else ZERO
        percent = percent_of(used, parse(most))
        yield name, 100 * (used.nano > 0) if percent is None else percent
