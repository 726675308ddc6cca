"""Remedies in words: the one place where they are put into sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from kubectl_kres.reports.common.remedy import (
    CreateObject,
    Edit,
    EditClaim,
    RaiseQuota,
    Remedy,
    Scale,
    SetBound,
    SetValue,
)


def sentence(edits: Sequence[Edit]) -> str:
    """All edits in one line: quotas and LimitRanges first, then the values, container by container."""
    owners = [one for one in edits if isinstance(one, (RaiseQuota, SetBound, CreateObject))]
    values = [one for one in edits if isinstance(one, SetValue)]
    others = [one for one in edits if one not in owners and one not in values]
    raised = [one for one in owners if isinstance(one, RaiseQuota)]
    others_of = [one for one in owners if not isinstance(one, RaiseQuota)]
    parts = [*_raised(raised), *map(_owner, others_of), *_values(values), *map(_other, others)]
    return _listed(parts)


def _raised(edits: Sequence[RaiseQuota]) -> Iterable[str]:
    """The names of one quota together."""
    for name, group in groupby(edits, key=lambda one: one.object.name):
        parts = [
            f"{one.resource} to {one.to}{f' ({one.next_pod} is enough for the next pod)' if one.next_pod else ''}"
            for one in group
        ]
        yield f"raise quota {name}: {_listed(parts)}" if len(parts) > 1 else _one_raised(name, parts[0])


def _one_raised(quota: str, part: str) -> str:
    resource, _, rest = part.partition(" ")
    return f"raise {resource} of quota {quota} {rest}"


def _owner(one: SetBound | CreateObject) -> str:
    if isinstance(one, SetBound):
        verb = "lower" if one.bound == "min" else "raise"
        return f"{verb} {one.bound}.{one.resource} per {one.of} of LimitRange {one.object.name} to {one.to}"
    claim = one.manifest.get("spec", {})
    if one.object.kind == "ResourcePoolClaim":
        amounts = _listed([f"{name} {amount}" for name, amount in claim["claim"].items()])
        return f"claim {amounts} more from pool {claim['pool']}"
    return f"create {one.object}"


def _other(one: Edit) -> str:
    if isinstance(one, Scale):
        word = "parallelism" if one.field.endswith("parallelism") else "replicas"
        return f"lower {word} to {one.to}"
    if isinstance(one, EditClaim) and one.object.kind == "ResourcePoolClaim":
        return f"let claim {one.object.name}, which is unused, ask for {one.resource} {one.to}"
    if isinstance(one, EditClaim):
        template = one.field.partition(".spec.resources")[0]
        return f"set requests.{one.resource} of {template} to {one.to}"
    return f"set {one.field} of {one.object}"


def _values(values: Sequence[SetValue]) -> Iterable[str]:
    """Values of one container that are the same are said together."""
    roles = {"container": "container", "init": "init container", "sidecar": "sidecar"}
    for (role, name), group in groupby(values, key=lambda one: (one.role, one.container)):
        who = "the pod level" if role == "pod" else f"{roles.get(role, 'container')} {name}"
        told: dict[tuple[str, str | None], list[str]] = {}
        for one in group:
            told.setdefault((one.resource, one.to), []).append(f"{one.side}.{one.resource}")
        parts = [f"{' and '.join(names)} of {who} to {to}" for (_, to), names in told.items()]
        yield f"set {_listed(parts)}"


def _listed(parts: Sequence[str]) -> str:
    if len(parts) < 3:
        return " and ".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


#: What is said where no remedy is needed.
NOTHING = "nothing to change"


def told(texts: Sequence[str]) -> tuple[Remedy, ...]:
    """Sentences that are all needed, as one remedy that was not tried; none of none."""
    return (Remedy("; ".join(texts)),) if texts else ()


def in_short(remedies: Sequence[Remedy]) -> str:
    """One line for a list: the first way, and that there are others."""
    if not remedies:
        return ""
    more = len(remedies) - 1
    others = f" (or {more} other way{'s' * (more > 1)})" if more else ""
    return f"{remedies[0].text}{others}"
