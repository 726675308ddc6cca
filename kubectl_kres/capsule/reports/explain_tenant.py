"""The explanation of a Tenant: the use of its quotas by namespace and down to single values, and how far beyond them it
may go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter

from msgspec import structs

from kubectl_kres.admission.base.draft import Quantities, Unparsable, parse_list
from kubectl_kres.admission.base.server import Server
from kubectl_kres.capsule.model import Tenant
from kubectl_kres.capsule.reports.common.part import RuleSummary
from kubectl_kres.capsule.reports.common.shared_quotas import tenant_quota_name
from kubectl_kres.capsule.reports.common.tenancy import (
    DEFINITION,
    cordoned_text,
    selector_text,
    summaries_of_tenant,
    version_of,
)
from kubectl_kres.capsule.rules.object_counts import object_counts
from kubectl_kres.capsule.rules.workload_rules import rules_of_tenant
from kubectl_kres.capsule.versions import remarks
from kubectl_kres.model.objects import ObjectRef, ResourceQuota, ResourceQuotaSpec
from kubectl_kres.provenance.journal import Assumption
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.record import Record
from kubectl_kres.reports.common.explanation import EvaluationOptions, FailedRead, Subject, find_unread
from kubectl_kres.reports.common.resource_lists import percent_of
from kubectl_kres.reports.pod.manifest_source import missing_error
from kubectl_kres.reports.quota import usage_tree
from kubectl_kres.reports.quota.quota_report import used_by
from kubectl_kres.store.store import ReadRequest, Store


class NamespaceShare(Record, frozen=True):
    """What one namespace uses of an item, and what its own quota allows it; absent: it has no such quota."""

    namespace: str
    used: str | None = None
    hard: str | None = None


class TenantUse(Record, frozen=True):
    """One resource of an item. ``hard`` is the Tenant's, with scope Namespace that of each namespace.

    used: over all namespaces. over_by: so much more than ``hard`` is used; empty with scope Namespace. allowed: what
    the namespaces' own quotas allow together, and excess: how much more that is than ``hard``, where it is more: pods
    that are created at once in several namespaces are admitted before Capsule lowers these quotas.
    """

    resource: str
    hard: str
    used: str
    over_by: str = ""
    allowed: str = ""
    excess: str = ""
    namespaces: tuple[NamespaceShare, ...] = ()


class TenantItem(Record, frozen=True):
    """One item of the Tenant's ``resourceQuotas``. ``quota``: its name in each namespace.

    fault: why it could not be computed.
    """

    number: int
    quota: str
    uses: tuple[TenantUse, ...] = ()
    fault: str = ""


class ClassList(Record, frozen=True):
    """What pods and claims may name, by a field of the Tenant. ``selector``: labels of classes that they may name.

    ``refuses_nothing``: its handler takes every class where it has no selector.
    """

    field: str
    default: str = ""
    allowed: tuple[str, ...] = ()
    pattern: str = ""
    selector: str = ""
    refuses_nothing: bool = False


class TenantCount(Record, frozen=True):
    """How many objects a Tenant may have: of ``field``, a resource with group and version, or its namespaces.

    ``full``: a further one is refused.
    """

    field: str
    used: int
    limit: int
    full: bool = False


class TenantExplanation(Record, frozen=True):
    """The quotas of a Tenant over its namespaces, and its rules about pods. ``scope`` empty: it has no quotas.

    ``assumptions``: what of the rules is not known, and what another version of Capsule does. ``lists``: what pods and
    claims may name. ``cordoned``: what that means, and how it ends; empty: it is not. ``counts``: what it may have a
    number of.
    """

    tenant: ObjectRef
    namespaces: tuple[str, ...]
    scope: str = ""
    items: tuple[TenantItem, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True
    rules: tuple[RuleSummary, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    lists: tuple[ClassList, ...] = ()
    cordoned: str = ""
    counts: tuple[TenantCount, ...] = ()

    @property
    def is_exceeded(self) -> bool:
        """Return whether more is used than the Tenant has."""
        return any(use.over_by for item in self.items for use in item.uses)


def tenant_needs(store: Store, subject: Subject) -> tuple[ReadRequest, ...]:
    """Return the Tenant, and once it is read the quotas in its namespaces."""
    own_read = ReadRequest("Tenant", name=subject.ref.name)
    tenant = store.get("Tenant", subject.ref.name)
    if not isinstance(tenant, Tenant):
        return (own_read,)
    limits = tenant.spec.rules or tenant.spec.resource_quotas
    return (own_read, *((DEFINITION,) if limits else ()), *_quota_needs(tenant))


def _quota_needs(tenant: Tenant) -> Iterator[ReadRequest]:
    if tenant.spec.resource_quotas is not None and tenant.spec.resource_quotas.items:
        for space in tenant.status.namespaces or ():
            yield ReadRequest("ResourceQuota", space)


def explain_tenant(store: Store, subject: Subject) -> TenantExplanation:
    """Raises NotFound or Forbidden if the Tenant cannot be had."""
    tenant = store.get("Tenant", subject.ref.name)
    if not isinstance(tenant, Tenant):
        raise missing_error(store, subject)
    quotas, spaces = tenant.spec.resource_quotas, tuple(sorted(tenant.status.namespaces or ()))
    ref = ObjectRef("Tenant", tenant.metadata.name)
    rules, version = summaries_of_tenant(tenant), version_of(store)
    assumed = list(rules_of_tenant(tenant, None).assumptions)
    if rules:
        assumed += (Assumption("spec.rules", "capsule/version", text) for text in remarks(version, "rules"))
    lists, counts = tuple(_lists(tenant)), tuple(_counts(tenant))
    cordoned = cordoned_text(store.origin, tenant.metadata.name) if tenant.spec.cordoned else ""
    if quotas is None or not quotas.items:
        return TenantExplanation(
            ref, spaces, rules=rules, assumptions=tuple(assumed), lists=lists, cordoned=cordoned, counts=counts
        )
    if version is not None:
        texts = remarks(version, "tenant quotas")
        assumed += (Assumption("spec.resourceQuotas", "capsule/version", text) for text in texts)
    items = tuple(
        _item(store, tenant, number, item, together=quotas.scope == "Tenant")
        for number, item in enumerate(quotas.items)
    )
    failed_reads = tuple(find_unread(store, _quota_needs(tenant)))
    return TenantExplanation(
        ref,
        spaces,
        quotas.scope,
        items,
        failed_reads,
        complete=not failed_reads,
        rules=rules,
        assumptions=tuple(assumed),
        lists=lists,
        cordoned=cordoned,
        counts=counts,
    )


def _counts(tenant: Tenant) -> Iterator[TenantCount]:
    """Yield what is limited in number. Of ResourceQuotas see ``items``."""
    quota, number = tenant.spec.namespace_options.quota, len(tenant.status.namespaces or ())
    if quota is not None:
        yield TenantCount("namespaces", number, quota, number >= quota)
    for count in object_counts(tenant.metadata.annotations or {}):
        yield TenantCount(count.resource, count.used, count.limit, count.used >= count.limit)


def _lists(tenant: Tenant) -> Iterator[ClassList]:
    spec = tenant.spec
    for field, allowed in (
        ("priorityClasses", spec.priority_classes),
        ("runtimeClasses", spec.runtime_classes),
        ("storageClasses", spec.storage_classes),
        ("deviceClasses", spec.device_classes),
        ("containerRegistries", spec.container_registries),
        ("ingressOptions.allowedClasses", spec.ingress_options.allowed_classes),
        ("ingressOptions.allowedHostnames", spec.ingress_options.allowed_hostnames),
        ("gatewayOptions.allowedClasses", spec.gateway_options.allowed_classes),
    ):
        if allowed is None:
            continue
        selector = selector_text(allowed)
        unlimited = field in {"runtimeClasses", "deviceClasses"} and not selector
        names = tuple(allowed.allowed or ())
        yield ClassList(field, allowed.default, names, allowed.allowed_regex, selector, refuses_nothing=unlimited)
    if spec.image_pull_policies:
        yield ClassList("imagePullPolicies", allowed=tuple(spec.image_pull_policies))
    if spec.service_options is not None and (types := spec.service_options.allowed_services) is not None:
        named = ("NodePort", types.node_port), ("ExternalName", types.external_name), (
            "LoadBalancer", types.load_balancer,
        )  # fmt: skip
        allowed_types = ("ClusterIP", *(name for name, is_allowed in named if is_allowed))
        yield ClassList("serviceOptions.allowedServices", allowed=allowed_types)
    if spec.service_options is not None and (addresses := spec.service_options.external_ips) is not None:
        yield ClassList("serviceOptions.externalIPs", allowed=tuple(addresses.allowed or ()))


def _item(store: Store, tenant: Tenant, number: int, item: ResourceQuotaSpec, *, together: bool) -> TenantItem:
    name = tenant_quota_name(tenant.metadata.name, number)
    path = f"spec.resourceQuotas.items[{number}].hard"
    try:
        hard = parse_list(item.hard, path)
        resource_quota = {
            space: _amounts(store.get("ResourceQuota", name, space)) for space in sorted(tenant.status.namespaces or ())
        }
    except Unparsable as fault:
        return TenantItem(number, name, fault=f"{fault.path}: {fault.error.message}")
    return TenantItem(
        number,
        name,
        tuple(_build_use(resource, hard[resource], resource_quota, together=together) for resource in hard),
    )


#: What is used and what is allowed; None: there is no such quota.
_Held = tuple[Quantities, Quantities] | None


def _amounts(quota: ResourceQuota | None) -> _Held:
    if quota is None:
        return None
    return parse_list(quota.status.used, "status.used"), parse_list(quota.spec.hard, "spec.hard")


def _build_use(resource: str, hard: Quantity, mapping: dict[str, _Held], *, together: bool) -> TenantUse:
    shares: list[NamespaceShare] = []
    used = may = 0
    for space, amounts in mapping.items():
        if amounts is None:
            shares.append(NamespaceShare(space))
            continue
        own_amount, allowed = amounts[0].get(resource, ZERO), amounts[1].get(resource)
        used += own_amount.nano
        may += max(own_amount.nano, allowed.nano if allowed is not None else 0)
        shares.append(NamespaceShare(space, str(own_amount), str(allowed) if allowed is not None else None))
    text = _format_amount(used, hard)
    if not together:
        return TenantUse(resource, str(hard), text, namespaces=tuple(shares))
    over = _format_amount(used - hard.nano, hard) if used > hard.nano else ""
    excess = _format_amount(may - hard.nano, hard) if may > hard.nano else ""
    return TenantUse(resource, str(hard), text, over, _format_amount(may, hard), excess, tuple(shares))


def _format_amount(nano: int, like: Quantity) -> str:
    return str(Quantity(nano, like.format))


class TenantUsers(Record, frozen=True):
    """``names``: of all quotas of the namespaces, that of the fullest one first. ``tree``: a node a namespace, with
    shares of what the Tenant uses.
    """

    tenant: ObjectRef
    namespaces: tuple[str, ...]
    names: tuple[str, ...] = ()
    tree: tuple[usage_tree.UsageNode, ...] = ()
    unread: tuple[FailedRead, ...] = ()
    complete: bool = True


def users_needs(store: Store, subject: Subject, server: Server) -> Iterator[ReadRequest]:
    """Yield the Tenant, and what counts in its namespaces and set the values there, as far as that is known by now."""
    yield ReadRequest("Tenant", name=subject.ref.name)
    tenant = store.get("Tenant", subject.ref.name)
    for space in sorted(tenant.status.namespaces or ()) if isinstance(tenant, Tenant) else ():
        yield ReadRequest("ResourceQuota", space)
        yield from usage_tree.counting_needs(list(store.all("ResourceQuota", space)), server, space)
        yield ReadRequest("LimitRange", space)
        yield from usage_tree.owner_needs(store, space)
        yield from usage_tree.setter_needs(store, space)


def tenant_users(store: Store, subject: Subject, options: EvaluationOptions) -> TenantUsers:
    """Raises NotFound or Forbidden if the Tenant cannot be had, UsageError where an object has what is no quantity."""
    tenant = store.get("Tenant", subject.ref.name)
    if not isinstance(tenant, Tenant):
        raise missing_error(store, subject)
    spaces = tuple(sorted(tenant.status.namespaces or ()))
    tree = usage_tree.with_shares(tuple(filter(None, (_namespace(store, space, options) for space in spaces))))
    failed_reads = tuple(dict.fromkeys(find_unread(store, users_needs(store, subject, options.server))))
    is_complete = not any(gap.required for gap in failed_reads)
    return TenantUsers(ObjectRef("Tenant", tenant.metadata.name), spaces, _names(tree), tree, failed_reads, is_complete)


def _namespace(store: Store, space: str, options: EvaluationOptions) -> usage_tree.UsageNode | None:
    """Of what several of its quotas count each object is counted once. None: it has no quota."""
    quotas: list[ResourceQuota] = sorted(store.all("ResourceQuota", space), key=attrgetter("metadata.name"))
    if not quotas:
        return None
    inside = tuple(_quota(store, quota, options) for quota in quotas)
    once: dict[str, usage_tree.UsageNode] = {}
    for node in inside:
        for part in _list_counted_nodes(node.children):
            known = once.get(part.name)
            both = {**known.usage, **part.usage} if known is not None else part.usage
            once[part.name] = structs.replace(part, usage=both)
    result = usage_tree.parent_node(list(once.values()), f"Namespace/{space}", ObjectRef("Namespace", space))
    return structs.replace(result, children=inside)


def _quota(store: Store, quota: ResourceQuota, options: EvaluationOptions) -> usage_tree.UsageNode:
    name, hard = quota.metadata.name, quota.status.hard or quota.spec.hard or {}
    ref = ObjectRef("ResourceQuota", name, quota.metadata.namespace)
    result = usage_tree.parent_node(used_by(store, quota, options), f"ResourceQuota/{name}", ref)
    return structs.replace(result, hard={key: str(hard[key]) for key in sorted(hard)})


def _list_counted_nodes(nodes: Iterable[usage_tree.UsageNode]) -> Iterator[usage_tree.UsageNode]:
    """Yield the pods, and what else is counted."""
    for node in nodes:
        below = node.children if node.subject is None or node.subject.kind != "Pod" else ()
        yield from _list_counted_nodes(below) if below else (node,)


def _names(tree: Iterable[usage_tree.UsageNode]) -> tuple[str, ...]:
    """Return those that quotas count, by the fullest of these; what has nothing to give is full."""
    shares: dict[str, int] = {}
    for quota in (quota for node in tree for quota in node.children):
        for name, share in _shares(quota):
            shares[name] = max(shares.get(name, 0), share)
    return tuple(sorted(shares, key=lambda name: (-shares[name], name)))


def _shares(quota: usage_tree.UsageNode) -> Iterator[tuple[str, int]]:
    hard: Mapping[str, str] = quota.hard
    for name, most in hard.items():
        used = parse(quota.usage[name]) if name in quota.usage else ZERO
        percent = percent_of(used, parse(most))
        yield name, 100 * (used.nano > 0) if percent is None else percent
