"""Recounted quotas: where ``status.used`` differs from the objects that exist, and the likeliest cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from kubectl_kres.admission.base.draft import Quantities, parse_list
from kubectl_kres.admission.base.server import Server
from kubectl_kres.admission.pod.aggregate import add_into
from kubectl_kres.admission.pod.validation import value_errors
from kubectl_kres.admission.quota.quota_admission import QuotaRequest, as_stored, names_of, pod_request
from kubectl_kres.admission.quota.usage import is_terminal, requirements
from kubectl_kres.model.objects import Metadata, ResourceQuota, ResourceQuotaStatus
from kubectl_kres.model.pod import Pod, PodStatus
from kubectl_kres.quantity import ZERO, Quantity, total

#: Resource (plural with its group) to the requests of all its objects in the namespace (``objects.request_of``).
#: None: they could not be read. A resource that the server does not have is left out.
RequestsByKind = Mapping[str, Iterable[QuotaRequest] | None]

#: pending: ``spec.hard`` names it, the controller has not copied that yet. nobody: no kind counts for the name, so that
#: it limits nothing. unread: objects that count for it could not be read. finished: pods that ended make up the
#: difference, or part of it. resized: pods were resized and may have been larger. unwritable: the API server refuses
#: the status that the controller would write, for a sum in it. resync: nothing that can be seen.
DriftCause = Literal["pending", "nobody", "unread", "finished", "resized", "unwritable", "resync"]
Suspect = tuple[DriftCause, str, Mapping[str, Quantity]]


class Drift(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One name of a quota whose use is not what was counted. ``used``, ``counted`` absent: there is none.

    pods: those that the cause is about. exact: they make up the whole difference.
    """

    name: str
    cause: DriftCause
    used: str | None = None
    counted: str | None = None
    pods: tuple[str, ...] = ()
    exact: bool = False


def recount(
    quota: ResourceQuota, objects: RequestsByKind, server: Server, *, extended: Mapping[str, str] | None = None
) -> Quantities:
    """Return what the controller finds used, by the names of ``spec.hard``, as it is stored; scopes are respected.

    A name is absent if no kind counts for it, as in ``status.used``, or if objects that count for it could not be read.
    Sums have the notation of the first that is not zero; the server's order of objects is arbitrary.
    Source: apiserver quota/v1/resources.go CalculateUsage, generic/evaluator.go CalculateUsageStats.
    """
    hard = dict.fromkeys(quota.spec.hard or ())
    scopes = requirements(quota.spec)
    quantities: Quantities = {}
    unread: set[str] = set()
    for resource, requests in objects.items():
        names = names_of(resource, server, extended)(hard)
        if names and requests is None:
            unread.update(names)
        if not names or requests is None:
            continue
        quantities.update({name: ZERO for name in names if name not in quantities})
        for request in requests:
            if all(map(request.in_scope, scopes)):
                add_into(quantities, {name: quantity for name, quantity in request.usage.items() if name in hard})
    known_names = {name for resource in objects for name in names_of(resource, server, extended)(hard)}
    return {name: quantity.round_up() for name, quantity in quantities.items() if name in known_names - unread}


def status_after(
    quota: ResourceQuota, objects: RequestsByKind, server: Server, *, extended: Mapping[str, str] | None = None
) -> ResourceQuotaStatus:
    """Return the status once the controller has looked at the quota; the very same where no value changes.

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


def find_drifts(
    quota: ResourceQuota,
    counted: Quantities,
    unread: Iterable[str],
    pods: Sequence[Pod],
    server: Server,
    now: datetime | None = None,
) -> tuple[Drift, ...]:
    """The names that differ, sorted. ``counted``: from ``recount``; ``unread``: names whose objects could not be read.

    pods: those of the namespace. Raises Unparsable.
    """
    used = parse_list(quota.status.used, "status.used")
    hard, unknown = quota.status.hard or {}, set(unread)
    drifts: list[Drift] = []
    suspects: list[Suspect] | None = None
    stuck = any(any(value_errors(name, counted[name], name)) for name in quota.spec.hard or () if name in counted)
    for name in sorted(quota.spec.hard or ()):
        before, after = used.get(name), counted.get(name)
        texts = None if before is None else str(before), None if after is None else str(after)
        if name not in hard:
            drifts.append(Drift(name, "unwritable" if stuck else "pending", *texts))
        elif after is None:
            drifts.append(Drift(name, "unread" if name in unknown else "nobody", *texts))
        elif stuck and before != after:
            drifts.append(Drift(name, "unwritable", *texts))
        elif before is None or before < after:
            drifts.append(Drift(name, "resync", *texts))
        elif before > after:
            suspects = _find_suspects(quota, pods, server, now) if suspects is None else suspects
            drifts.append(_explain_drift(name, texts, before - after, suspects))
    return tuple(drifts)


def _explain_drift(
    name: str, texts: tuple[str | None, str | None], more: Quantity, suspects: Sequence[Suspect]
) -> Drift:
    """``more``: what is used beyond what was counted."""
    for cause in ("finished", "resized"):
        quantities = {pod: usage[name] for reasons, pod, usage in suspects if reasons == cause and name in usage}
        if quantities:
            exact = cause == "finished" and total(quantities.values()) == more
            return Drift(name, cause, *texts, tuple(sorted(quantities)), exact)
    return Drift(name, "resync", *texts)


def _find_suspects(quota: ResourceQuota, pods: Sequence[Pod], server: Server, now: datetime | None) -> list[Suspect]:
    """Pods in the quota's scopes that ended or were resized, with what they count for, or did while they ran."""
    scopes = requirements(quota.spec)
    pairs: list[Suspect] = []
    for pod in pods:
        terminal = is_terminal(pod, now)
        if not terminal and pod.metadata.generation <= 1:
            continue
        request = pod_request(_build_running_pod(pod) if terminal else pod, server)
        if all(map(request.in_scope, scopes)):
            usage = {name: value for name, value in request.usage.items() if name != "count/pods"}
            pairs.append(("finished" if terminal else "resized", pod.metadata.name, usage))
    return pairs


def _build_running_pod(pod: Pod) -> Pod:
    """Return the pod as if it still ran."""
    return Pod(Metadata(pod.metadata.name), pod.spec, PodStatus(phase="Running", qos_class=pod.status.qos_class))
