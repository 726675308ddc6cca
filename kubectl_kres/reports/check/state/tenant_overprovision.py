"""KRES307: the namespaces of a Tenant use more than its quota allows them together."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.base.draft import Quantities, Unparsable, parse_list
from kubectl_kres.admission.pod.aggregate import add_into
from kubectl_kres.capsule.reports.common.tenant_quotas import tenant_quota_name
from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.check.finding import Broken
from kubectl_kres.reports.check.rule import Rule
from kubectl_kres.reports.check.scene import Scene


def find(scene: Scene) -> Iterator[Broken]:
    """Quotas of Tenants with scope Tenant of which more is used than allowed."""
    for tenant in scene.store.all("Tenant"):
        quotas = tenant.spec.resource_quotas
        if quotas is None or quotas.scope != "Tenant":
            continue
        for number, item in enumerate(quotas.items or ()):
            path = f"spec.resourceQuotas.items[{number}].hard"
            used: Quantities = {}
            try:
                hard = parse_list(item.hard, path)
                for space in tenant.status.namespaces or ():
                    quota = scene.store.get("ResourceQuota", tenant_quota_name(tenant.metadata.name, number), space)
                    if quota is not None:
                        add_into(used, parse_list(quota.status.used, "status.used"))
            except Unparsable:
                continue
            for name in sorted(hard.keys() & used.keys()):
                if used[name] > hard[name]:
                    values = {"name": name, "used": str(used[name]), "hard": str(hard[name])}
                    yield Broken(ObjectRef("Tenant", tenant.metadata.name), values, f"{path}[{name}]")


RULE = Rule(
    code="KRES307",
    title="a Tenant uses more than its quota",
    severity="warning",
    reason="With scope Tenant each namespace has a quota of its own that Capsule lowers after the fact: pods "
    "that are created at once in several namespaces can take more than the Tenant has.",
    remedy="Move to resource pools, which share out once (migrate writes them), or raise the quota.",
    message="its namespaces use {used} of {name}, the Tenant has {hard}",
    find=find,
    about="cluster",
    failing="""
apiVersion: capsule.clastix.io/v1beta2
kind: Tenant
metadata: {name: oil}
spec: {resourceQuotas: {scope: Tenant, items: [{hard: {pods: '4'}}]}}
status: {namespaces: [one, two], size: 2}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: capsule-oil-0, namespace: one}
spec: {hard: {pods: '3'}}
status: {hard: {pods: '3'}, used: {pods: '3'}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: capsule-oil-0, namespace: two}
spec: {hard: {pods: '2'}}
status: {hard: {pods: '2'}, used: {pods: '2'}}
""",
    passing="""
apiVersion: capsule.clastix.io/v1beta2
kind: Tenant
metadata: {name: oil}
spec: {resourceQuotas: {scope: Tenant, items: [{hard: {pods: '4'}}]}}
status: {namespaces: [one, two], size: 2}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: capsule-oil-0, namespace: one}
spec: {hard: {pods: '2'}}
status: {hard: {pods: '2'}, used: {pods: '2'}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: capsule-oil-0, namespace: two}
spec: {hard: {pods: '2'}}
status: {hard: {pods: '2'}, used: {pods: '2'}}
""",
)
