"""The quotas that Capsule makes of a Tenant's ``resourceQuotas``, which are deprecated but in use, and of its rules."""

from __future__ import annotations

from msgspec import structs

from kubectl_kres.capsule.model import GlobalResourceQuota, Tenant
from kubectl_kres.capsule.reports.common.amount_lists import amount
from kubectl_kres.capsule.rules.global_quota import KIND, is_projected
from kubectl_kres.model.meta import Metadata, ObjectRef
from kubectl_kres.model.policy import ResourceQuota
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.remedy import RaiseQuota
from kubectl_kres.store.store import Store

_TENANT, _NUMBER = "capsule.clastix.io/tenant", "capsule.clastix.io/resource-quota"
#: What the annotations with the Tenant's use of a resource begin with; a slash in its name becomes an underscore.
_USED = "quota.capsule.clastix.io/used-"


def tenant_quota_name(tenant: str, number: int) -> str:
    """The quota that Capsule makes of an item in each namespace.

    Source: capsule controllers tenant/resourcequotas.go.
    """
    return f"capsule-{tenant}-{number}"


def source_of_quota(store: Store, edit: RaiseQuota) -> RaiseQuota | None:
    """Return the raise of the Tenant or GlobalResourceQuota that a quota is made from; None: it is made from neither,
    or too little is known of that.
    """
    item = store.get(edit.object.kind, edit.object.name, edit.object.namespace)
    if isinstance(item, GlobalResourceQuota):
        return _of_rule(store, item, edit)
    if not isinstance(item, ResourceQuota):
        return None
    parent = store.get(KIND, is_projected(item)) if is_projected(item) else None
    if isinstance(parent, GlobalResourceQuota):
        raised = _of_part(parent, item, edit)
        return raised and (_of_rule(store, parent, raised) or raised)
    return _of_item(store, item, edit)


def _tenant(store: Store, metadata: Metadata) -> Tenant | None:
    """Return the Tenant that owns an object, or that its label names."""
    owners = (owner.name for owner in metadata.owner_references or () if owner.kind == "Tenant")
    name = next(owners, (metadata.labels or {}).get(_TENANT, ""))
    tenant = store.get("Tenant", name) if name else None
    return tenant if isinstance(tenant, Tenant) else None


def _of_item(store: Store, quota: ResourceQuota, edit: RaiseQuota) -> RaiseQuota | None:
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
        own = amount((quota.status.used or {}).get(edit.resource, "0")) or Quantity(0)
        to = Quantity(to.nano - own.nano + used.nano, hard.format)
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
    own = amount((quota.status.used or {}).get(name, "0")) or Quantity(0)
    here = amount((quota.status.hard or quota.spec.hard or {}).get(name))
    least = hard.nano - (own if here is None else here).nano + own.nano
    spaces = tenant.status.namespaces or ()
    quotas = [store.get("ResourceQuota", quota.metadata.name, space) for space in spaces]
    uses = [amount((each.status.used or {}).get(name, "0")) for each in quotas if isinstance(each, ResourceQuota)]
    noted = amount((quota.metadata.annotations or {}).get(f"{_USED}{name.replace('/', '_')}"))
    if len(uses) == len(spaces):
        noted = Quantity(sum(each.nano for each in uses if each is not None))
    return Quantity(max(least, noted.nano if noted is not None else 0), hard.format)


def _of_part(parent: GlobalResourceQuota, quota: ResourceQuota, edit: RaiseQuota) -> RaiseQuota | None:
    """Of a namespace's part of a GlobalResourceQuota, which has what is left of that and what it uses itself."""
    hard = amount((parent.spec.quota.hard or {}).get(edit.resource))
    used = amount((parent.status.total.used or {}).get(edit.resource, "0"))
    own = amount((quota.status.used or {}).get(edit.resource, "0"))
    if hard is None or used is None or own is None:
        return None
    to = Quantity(parse(edit.to).nano - own.nano + used.nano, hard.format)
    field = f"spec.quota.hard[{edit.resource}]"
    ref = ObjectRef(KIND, parent.metadata.name)
    return structs.replace(edit, object=ref, field=field, to=str(to), from_=str(hard), next_pod="")


def _of_rule(store: Store, quota: GlobalResourceQuota, edit: RaiseQuota) -> RaiseQuota | None:
    """Of a GlobalResourceQuota that a rule of a Tenant makes; its hard is the rule's.

    Source: capsule pkg/tenant/rule_quota.go.
    """
    tenant = _tenant(store, quota.metadata)
    for place, rule in enumerate(tenant.spec.rules or () if tenant is not None else ()):
        for number, own in enumerate(rule.quota or ()):
            if tenant is not None and quota.metadata.name == f"{tenant.metadata.name}-{own.name}":
                field = f"spec.rules[{place}].quota[{number}].hard[{edit.resource}]"
                return structs.replace(edit, object=ObjectRef("Tenant", tenant.metadata.name), field=field)
    return None
