"""Capsule's quotas beside pools, with limits and use as their status says: global and custom ones, and those that a
Tenant makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from kubectl_kres.capsule.model import LABELS, CustomQuota, CustomSource, GlobalResourceQuota, Tenant
from kubectl_kres.capsule.reports.common.amount_lists import amount, amount_texts, parse_amounts
from kubectl_kres.capsule.rules.conditions import READY, find
from kubectl_kres.capsule.rules.global_quota import KIND, is_projected
from kubectl_kres.model.objects import Metadata, ObjectRef, ResourceQuota
from kubectl_kres.quantity import ZERO, Quantity, parse
from kubectl_kres.reports.common.remedy import RaiseQuota
from kubectl_kres.reports.common.resource_lists import scope_words
from kubectl_kres.reports.quota.quota_report import QuotaReport, QuotaUse, UsageShare
from kubectl_kres.store.store import ReadRequest, Store

_KINDS = ("GlobalResourceQuota", "GlobalCustomQuota")


def may_share(quotas: Iterable[ResourceQuota]) -> bool:
    """Return whether such quotas are worth looking for beside these: where Capsule shows by its labels on one of them,
    or where there is no quota at all. On other clusters nobody should wait for three refusals.
    """
    resource_quotas = tuple(quotas)
    return not resource_quotas or any(
        key.startswith(LABELS) for resource_quota in resource_quotas for key in resource_quota.metadata.labels or {}
    )


def shared_needs(namespace: str) -> tuple[ReadRequest, ...]:
    """The reads of those that bear on a namespace; empty: on any."""
    return (
        ReadRequest("CustomQuota", namespace, required=False),
        *(ReadRequest(kind, required=False) for kind in _KINDS),
    )


def shared_reports(store: Store, namespace: str) -> Iterator[QuotaReport]:
    """Quotas over several namespaces of which this is one, then those of the namespace itself; empty: all there are."""
    shared: Iterator[GlobalResourceQuota] = store.all("GlobalResourceQuota")
    for global_resource_quota in shared:
        if not namespace or namespace in (global_resource_quota.status.namespaces or ()):
            yield _global_quota_report(global_resource_quota, namespace)
    counted: Iterator[CustomQuota] = store.all("GlobalCustomQuota")
    for custom in counted:
        if not namespace or namespace in (custom.status.namespaces or ()):
            yield _custom_quota_report(custom)
    custom_quotas: Iterator[CustomQuota] = store.all("CustomQuota", namespace or None)
    for custom in custom_quotas:
        yield _custom_quota_report(custom)


def _global_quota_report(quota: GlobalResourceQuota, namespace: str) -> QuotaReport:
    total = quota.status.total
    hard, used = parse_amounts(total.hard), parse_amounts(total.used)
    by = quota.status.namespace_usage or {}
    return QuotaReport(
        ObjectRef("GlobalResourceQuota", quota.metadata.name),
        tuple(_build_use(name, hard[name], used.get(name, ZERO)) for name in sorted(hard)),
        scopes=scope_words(quota.spec.quota),
        enforced=bool(hard) or not quota.spec.quota.hard,
        grouped_by="namespace",
        shares=tuple(
            UsageShare(
                f"{space}{' (here)' if space == namespace else ''}", 0, amount_texts(values), _percents(values, used)
            )
            for space, usage in sorted(by.items())
            if (values := {name: value for name, value in parse_amounts(usage.used).items() if value.nano})
        ),
        shared=tuple(quota.status.namespaces or ()),
        faults=_failure_messages(quota),
    )


def _custom_quota_report(quota: CustomQuota) -> QuotaReport:
    """Return one limit, over whatever is counted."""
    limit, used = amount(quota.spec.limit), amount(quota.status.usage.used)
    sources = quota.spec.sources or ()
    uses = (_build_use("limit", limit, used or ZERO),) if limit is not None else ()
    return QuotaReport(
        ObjectRef(quota.kind, quota.metadata.name, quota.metadata.namespace),
        uses,
        scopes=tuple(map(_source, sources)),
        enforced=bool(quota.status.conditions) or used is not None,
        shared=tuple(quota.status.namespaces or ()),
        faults=_failure_messages(quota),
    )


def _failure_messages(quota: GlobalResourceQuota | CustomQuota) -> tuple[str, ...]:
    ready = find(quota.status.conditions, READY)
    return (ready.message or ready.reason,) if ready is not None and ready.status == "False" else ()


def _source(source: CustomSource) -> str:
    """``the sum of .spec.replicas of Deployment``."""
    kind_text = f"{source.kind} ({source.api_version})" if source.api_version not in {"", "v1"} else source.kind
    what = source.cel or source.path
    if source.op == "count":
        return f"the number of {kind_text}"
    mark = "minus " if source.op == "sub" else ""
    return f"{mark}the sum of {what} of {kind_text}" if what else f"{mark}{kind_text}"


def _build_use(name: str, hard: Quantity, used: Quantity) -> QuotaUse:
    percent = used.nano * 100 // hard.nano if hard.nano > 0 else None
    return QuotaUse(name, str(hard), str(used), str(Quantity(hard.nano - used.nano, hard.format)), percent)


def _percents(values: dict[str, Quantity], totals: dict[str, Quantity]) -> dict[str, int]:
    return {name: value.nano * 100 // totals[name].nano if totals.get(name) else 0 for name, value in values.items()}


_TENANT, _NUMBER = "capsule.clastix.io/tenant", "capsule.clastix.io/resource-quota"
#: What the annotations with the Tenant's use of a resource begin with; a slash in its name becomes an underscore.
_USED = "quota.capsule.clastix.io/used-"


def tenant_quota_name(tenant: str, number: int) -> str:
    """Return the quota that Capsule makes of an item in each namespace.

    Source: capsule controllers tenant/resourcequotas.go.
    """
    return f"capsule-{tenant}-{number}"


def source_of_quota(store: Store, edit: RaiseQuota) -> RaiseQuota | None:
    """Return the raise of the Tenant or GlobalResourceQuota that a quota is made from; None: it is made from neither,
    or too little is known of that.
    """
    item = store.get(edit.object.kind, edit.object.name, edit.object.namespace)
    if isinstance(item, GlobalResourceQuota):
        return _raise_rule_quota(store, item, edit)
    if not isinstance(item, ResourceQuota):
        return None
    parent = store.get(KIND, is_projected(item)) if is_projected(item) else None
    if isinstance(parent, GlobalResourceQuota):
        raised = _raise_global_quota(parent, item, edit)
        return raised and (_raise_rule_quota(store, parent, raised) or raised)
    return _raise_tenant_item(store, item, edit)


def _tenant(store: Store, metadata: Metadata) -> Tenant | None:
    """Return the Tenant that owns an object, or that its label names."""
    owners = (owner.name for owner in metadata.owner_references or () if owner.kind == "Tenant")
    name = next(owners, (metadata.labels or {}).get(_TENANT, ""))
    tenant = store.get("Tenant", name) if name else None
    return tenant if isinstance(tenant, Tenant) else None


def _raise_tenant_item(store: Store, quota: ResourceQuota, edit: RaiseQuota) -> RaiseQuota | None:
    """Of an item of a Tenant. With scope Tenant a namespace has what the Tenant has left and what it uses itself.

    Source: capsule controllers tenant/resourcequotas.go: hard - use of all namespaces + use of this one.
    """
    tenant, number = _tenant(store, quota.metadata), (quota.metadata.labels or {}).get(_NUMBER, "")
    quotas = tenant.spec.resource_quotas if tenant is not None else None
    items = (quotas.items or ()) if quotas is not None else ()
    if tenant is None or quotas is None or not number.isdecimal() or int(number) >= len(items):
        return None
    hard = amount((items[int(number)].hard or {}).get(edit.resource))
    if hard is None:
        return None
    to = parse(edit.to)
    if quotas.scope != "Namespace":
        used = _used_by_tenant(store, tenant, quota, edit.resource, hard)
        own_amount = amount((quota.status.used or {}).get(edit.resource, "0")) or Quantity(0)
        to = Quantity(to.nano - own_amount.nano + used.nano, hard.format)
    return structs.replace(
        edit,
        object=ObjectRef("Tenant", tenant.metadata.name),
        field=f"spec.resourceQuotas.items[{number}].hard[{edit.resource}]",
        to=str(to),
        from_=str(hard),
        next_pod="",
    )


def _used_by_tenant(store: Store, tenant: Tenant, quota: ResourceQuota, name: str, hard: Quantity) -> Quantity:
    """Return what all namespaces of a Tenant use: as their quotas say, else the controller's annotation; at least what
    follows from the hard that the controller gave this one.
    """
    own_amount = amount((quota.status.used or {}).get(name, "0")) or Quantity(0)
    here = amount((quota.status.hard or quota.spec.hard or {}).get(name))
    minimum = hard.nano - (own_amount if here is None else here).nano + own_amount.nano
    spaces = tenant.status.namespaces or ()
    quotas = [store.get("ResourceQuota", quota.metadata.name, space) for space in spaces]
    uses = [amount((each.status.used or {}).get(name, "0")) for each in quotas if isinstance(each, ResourceQuota)]
    noted = amount((quota.metadata.annotations or {}).get(f"{_USED}{name.replace('/', '_')}"))
    if len(uses) == len(spaces):
        noted = Quantity(sum(each.nano for each in uses if each is not None))
    return Quantity(max(minimum, noted.nano if noted is not None else 0), hard.format)


def _raise_global_quota(parent: GlobalResourceQuota, quota: ResourceQuota, edit: RaiseQuota) -> RaiseQuota | None:
    """Of a namespace's part of a GlobalResourceQuota, which has what is left of that and what it uses itself."""
    hard = amount((parent.spec.quota.hard or {}).get(edit.resource))
    used = amount((parent.status.total.used or {}).get(edit.resource, "0"))
    own_amount = amount((quota.status.used or {}).get(edit.resource, "0"))
    if hard is None or used is None or own_amount is None:
        return None
    to = Quantity(parse(edit.to).nano - own_amount.nano + used.nano, hard.format)
    field = f"spec.quota.hard[{edit.resource}]"
    ref = ObjectRef(KIND, parent.metadata.name)
    return structs.replace(edit, object=ref, field=field, to=str(to), from_=str(hard), next_pod="")


def _raise_rule_quota(store: Store, quota: GlobalResourceQuota, edit: RaiseQuota) -> RaiseQuota | None:
    """Of a GlobalResourceQuota that a rule of a Tenant makes; its hard is the rule's.

    Source: capsule pkg/tenant/rule_quota.go.
    """
    tenant = _tenant(store, quota.metadata)
    for index, rule in enumerate(tenant.spec.rules or () if tenant is not None else ()):
        for number, rule_quota in enumerate(rule.quota or ()):
            if tenant is not None and quota.metadata.name == f"{tenant.metadata.name}-{rule_quota.name}":
                field = f"spec.rules[{index}].quota[{number}].hard[{edit.resource}]"
                return structs.replace(edit, object=ObjectRef("Tenant", tenant.metadata.name), field=field)
    return None
