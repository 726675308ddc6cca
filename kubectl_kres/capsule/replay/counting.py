"""The use of a managed quota: counted again where the objects are known and can be read, else kept as it was."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from kubectl_kres.admission.base.draft import Unparsable
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.quota.quota_admission import QuotaRequest
from kubectl_kres.admission.quota.requests import request_of
from kubectl_kres.admission.quota.usage_drift import status_after
from kubectl_kres.capsule.replay.world import PoolWorld
from kubectl_kres.model.kinds import KINDS
from kubectl_kres.model.policy import ResourceQuota, ResourceQuotaStatus

_COUNT = "count/"


def counted(world: PoolWorld, quota: ResourceQuota) -> ResourceQuota:
    """The quota with the status that the quota controller gives it. Without ``hard`` it has none."""
    if not quota.spec.hard:
        return structs.replace(quota, status=ResourceQuotaStatus())
    objects = world.objects.get(quota.metadata.namespace)
    if objects is None:
        return _uncounted(quota)
    try:
        requests = _requests(objects, quota, world.server)
        return structs.replace(quota, status=status_after(quota, requests, world.server))
    except Unparsable:
        return _uncounted(quota)


def _uncounted(quota: ResourceQuota) -> ResourceQuota:
    """With the use that it has; a resource that is new to it counts as unused."""
    hard, used = quota.spec.hard or {}, quota.status.used or {}
    return structs.replace(quota, status=ResourceQuotaStatus(dict(hard), {name: used.get(name, "0") for name in hard}))


def _requests(objects: tuple[Any, ...], quota: ResourceQuota, server: Server) -> dict[str, list[QuotaRequest]]:
    """What each object counts for, by resource; a resource that is named in the quota has objects, if only none."""
    named = (name.removeprefix(_COUNT) for name in quota.spec.hard or () if name.startswith(_COUNT))
    quota_requests: dict[str, list[QuotaRequest]] = {
        resource: [] for resource in (*(kind.qualified for kind in KINDS), *named)
    }
    for item in objects:
        request = request_of(item, server)
        quota_requests.setdefault(request.resource, []).append(request)
    return quota_requests
