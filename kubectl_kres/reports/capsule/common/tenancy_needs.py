"""What has to be read to know what Capsule enforces on the pods of a namespace, where something says that it is there."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.model.capsule import GROUP, LABELS, Tenant
from kubectl_kres.model.policy import Namespace
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

TENANT_LABEL = "capsule.clastix.io/tenant"
#: The RuleStatus that the controller writes in each namespace.
RULE_STATUS = "capsule-managed-rules"
#: What tells Capsule's version: the chart labels its definitions, and its Deployment.
DEFINITION = Need("CustomResourceDefinition", name=f"tenants.{GROUP}", required=False)
DEPLOYMENT = Need("Deployment", "capsule-system", required=False)
_HOOKS = (".projectcapsule.dev", ".capsule.clastix.io")
_UNREAD = frozenset({"denied", "failed"})


def tenant_name(space: Namespace | None) -> str:
    """Return the Tenant of a namespace, by its owner, else by its label; empty: it has none that is known."""
    if space is None:
        return ""
    for owner in space.metadata.owner_references or ():
        if owner.kind == "Tenant" and owner.api_version.partition("/")[0] in {"", GROUP}:
            return owner.name
    return (space.metadata.labels or {}).get(TENANT_LABEL, "")


def tenancy_needs(store: Store, namespace: str) -> Iterator[Need]:
    """Yield the reads of what is enforced in a namespace (empty: in any), where something that was read says that
    Capsule is there.

    The labels of the namespace decide which rules of a Tenant apply: where they are not known the RuleStatus tells.
    """
    space = store.get("Namespace", namespace) if namespace else None
    tenant = tenant_name(space)
    if tenant:
        own = Need("Tenant", name=tenant, required=False)
        yield own
        if store.covered(own).state in _UNREAD:
            yield Need("RuleStatus", namespace, required=False)
    elif space is None and _shows(store, namespace):
        yield Need("RuleStatus", namespace, required=False)
    else:
        return
    yield Need("GlobalResourceQuota", required=False)
    if namespace and bears(store, namespace):
        yield DEFINITION
        if store.covered(DEFINITION).state in _UNREAD:
            yield DEPLOYMENT


def bears(store: Store, namespace: str) -> bool:
    """Return whether something was read that Capsule may enforce on pods of the namespace."""
    if any(True for _ in store.all("GlobalResourceQuota")) or any(True for _ in store.all("RuleStatus", namespace)):
        return True
    tenant: Tenant | None = store.get("Tenant", tenant_name(store.get("Namespace", namespace)))
    return tenant is not None and any(rule.enforce is not None for rule in tenant.spec.rules or ())


def _shows(store: Store, namespace: str) -> bool:
    """Return whether Capsule shows: by a label on a quota or LimitRange of the namespace, or by its webhooks."""
    for kind in ("ResourceQuota", "LimitRange"):
        for policy in store.all(kind, namespace or None):
            if any(key.startswith(LABELS) for key in policy.metadata.labels or {}):
                return True
    return any(
        hook.name.endswith(_HOOKS)
        for configuration in store.all("MutatingWebhookConfiguration")
        for hook in configuration.webhooks or ()
    )
