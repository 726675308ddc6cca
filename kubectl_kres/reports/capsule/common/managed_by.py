"""Policies that Capsule distributes: who keeps them, and that edits of theirs do not last.

Source: capsule internal/controllers/resources and internal/controllers/tenant; read, not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.capsule.rules.pool_quota import MANAGED_LABEL, POOL_LABEL
from kubectl_kres.model.meta import ManagedMetadata

_OWNERS = ("TenantResource", "GlobalTenantResource", "Tenant")
#: Labels of what is distributed, of Capsule's versions from old to new.
_LABELS = ("capsule.clastix.io/resources", "projectcapsule.dev/created-by", MANAGED_LABEL)
#: What starts the name of the field manager of what a TenantResource distributes.
MANAGER = "projectcapsule.dev/resource"
#: The value of the label on what a Tenant's own fields make.
_OF_TENANT = "controller"


def kept(metadata: ManagedMetadata) -> str:
    """A sentence for a LimitRange or quota that Capsule distributes; empty for any other, and for quotas of pools."""
    labels = metadata.labels or {}
    told = list(_told(metadata))
    if not told or POOL_LABEL in labels:
        return ""
    owner = next(
        (owner_reference for owner_reference in metadata.owner_references or () if owner_reference.kind in _OWNERS),
        None,
    )
    if owner is not None:
        made = f"{owner.kind}/{owner.name}"
    elif labels.get(MANAGED_LABEL) == _OF_TENANT:
        made = "its Tenant"
    else:
        made = "the TenantResource or GlobalTenantResource that distributes it"
    return f"Capsule keeps it ({told[0]}): edits are undone, or refused; change {made} instead"


def _told(metadata: ManagedMetadata) -> Iterator[str]:
    """What tells that Capsule keeps it."""
    for entry in metadata.managed_fields or ():
        if entry.manager.startswith(MANAGER):
            yield f"field manager {entry.manager}"
    for owner_reference in metadata.owner_references or ():
        if owner_reference.kind in _OWNERS and owner_reference.api_version.partition("/")[0] in {
            "",
            "capsule.clastix.io",
        }:
            yield f"owned by {owner_reference.kind}/{owner_reference.name}"
    for label in _LABELS:
        value = (metadata.labels or {}).get(label)
        if value is not None:
            yield f"label {label}={value}"
