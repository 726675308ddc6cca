"""What has to be read to know what Capsule enforces on the pods of a namespace, where something says that it is."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.model import GROUP, tenant_name
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: The RuleStatus that the controller writes in each namespace.
RULE_STATUS = "capsule-managed-rules"
#: What tells Capsule's version: the chart labels its definitions, and its Deployment.
DEFINITION = Need("CustomResourceDefinition", name=f"tenants.{GROUP}", required=False)
DEPLOYMENT = Need("Deployment", "capsule-system", required=False)
_UNREAD = frozenset({"denied", "failed"})


def tenancy_needs(store: Store, namespace: str, *, decided: bool) -> Iterator[Need]:
    """Yield the reads of what is enforced in a namespace (empty: in any) where Capsule is.

    ``decided``: something of it was read, so that the version matters. The labels of the namespace decide which rules
    of a Tenant apply: where they are not known the RuleStatus tells.
    """
    tenant = tenant_name(store.get("Namespace", namespace) if namespace else None)
    own = Need("Tenant", name=tenant, required=False)
    if tenant:
        yield own
    if not tenant or store.covered(own).state in _UNREAD:
        yield Need("RuleStatus", namespace, required=False)
    yield Need("GlobalResourceQuota", required=False)
    if namespace and decided:
        yield DEFINITION
        if store.covered(DEFINITION).state in _UNREAD:
            yield DEPLOYMENT
