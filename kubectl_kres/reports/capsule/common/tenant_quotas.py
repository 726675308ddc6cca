"""The quotas that Capsule makes of a Tenant's ``resourceQuotas``, which are deprecated but in use."""

from __future__ import annotations


def tenant_quota_name(tenant: str, number: int) -> str:
    """The quota that Capsule makes of an item in each namespace.

    Source: capsule controllers tenant/resourcequotas.go.
    """
    return f"capsule-{tenant}-{number}"
