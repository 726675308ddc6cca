"""The quota controller: what it counts in a namespace, and the status it writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubectl_kres.admission.base.draft import Quantities, parse_list
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import add_into
from kubectl_kres.admission.quota.quota_admission import Request, as_stored
from kubectl_kres.admission.quota.requests import names_of
from kubectl_kres.admission.quota.scopes import requirements
from kubectl_kres.model.policy import ResourceQuota, ResourceQuotaStatus
from kubectl_kres.quantity import ZERO

#: Resource (plural with its group) to the requests of all its objects in the namespace (``objects.request_of``).
#: None: they could not be read. A resource that the server does not have is left out.
RequestsByKind = Mapping[str, Iterable[Request] | None]


def recount(
    quota: ResourceQuota, objects: RequestsByKind, server: Server, *, extended: Mapping[str, str] | None = None
) -> Quantities:
    """What the controller finds used, by the names of ``spec.hard``; scopes are respected.

    A name is absent if no kind counts for it, as in ``status.used``, or if objects that count for it could not be read.
    Sums have the notation of the first that is not zero; the server's order of objects is arbitrary.
    Source: apiserver quota/v1/resources.go CalculateUsage, generic/evaluator.go CalculateUsageStats.
    """
    hard = dict.fromkeys(quota.spec.hard or ())
    scopes = requirements(quota.spec)
    found: Quantities = {}
    unread: set[str] = set()
    for resource, requests in objects.items():
        names = names_of(resource, server, extended)(hard)
        if names and requests is None:
            unread.update(names)
        if not names or requests is None:
            continue
        found.update({name: ZERO for name in names if name not in found})
        for request in requests:
            if all(map(request.in_scope, scopes)):
                add_into(found, {name: quantity for name, quantity in request.usage.items() if name in hard})
    known = {name for resource in objects for name in names_of(resource, server, extended)(hard)}
    return {name: quantity for name, quantity in found.items() if name in known - unread}


def status_after(
    quota: ResourceQuota, objects: RequestsByKind, server: Server, *, extended: Mapping[str, str] | None = None
) -> ResourceQuotaStatus:
    """The status once the controller has looked at the quota; the very same where no value changes.

    What could not be read keeps the use it had. Source: resource_quota_controller.go syncResourceQuota.
    """
    hard, status = parse_list(quota.spec.hard, "spec.hard"), quota.status
    before = parse_list(status.used, "status.used")
    counted = {**before, **recount(quota, objects, server, extended=extended)}
    used = {name: counted[name] for name in hard if name in counted}
    seen = status.hard is not None and status.used is not None
    if seen and hard == parse_list(status.hard, "status.hard") and used == before:
        return status
    return ResourceQuotaStatus(
        {name: as_stored(quantity) for name, quantity in hard.items()},
        {name: as_stored(quantity) for name, quantity in used.items()},
    )
