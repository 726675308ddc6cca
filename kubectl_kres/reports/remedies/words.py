"""Remedies in words: the one place where they are put into sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from kubectl_kres.model.meta import ObjectRef
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
    return listed(parts)


def _raised(edits: Sequence[RaiseQuota]) -> Iterable[str]:
    """The names of one quota together."""
    for name, group in groupby(edits, key=lambda one: one.object.name):
        parts = [
            f"{one.resource} to {one.to}{f' ({one.next_pod} is enough for the next pod)' if one.next_pod else ''}"
            for one in group
        ]
        yield f"raise quota {name}: {listed(parts)}" if len(parts) > 1 else _one_raised(name, parts[0])


def _one_raised(quota: str, part: str) -> str:
    resource, _, rest = part.partition(" ")
    return f"raise {resource} of quota {quota} {rest}"


def _owner(one: SetBound | CreateObject) -> str:
    if isinstance(one, SetBound) and one.bound.startswith("default"):
        return f"set {one.bound}.{one.resource} per {one.of} of LimitRange {one.object.name} to {one.to}"
    if isinstance(one, SetBound):
        verb = "lower" if one.bound == "min" else "raise"
        return f"{verb} {one.bound}.{one.resource} per {one.of} of LimitRange {one.object.name} to {one.to}"
    claim = one.manifest.get("spec", {})
    if one.object.kind == "LimitRange":
        given = [
            f"{side}.{name} {amount}"
            for item in claim["limits"]
            for side in ("default", "defaultRequest")
            for name, amount in item.get(side, {}).items()
        ]
        return f"create LimitRange {one.object.name} with {listed(given)} per Container"
    if one.object.kind == "ResourcePoolClaim":
        amounts = listed([f"{name} {amount}" for name, amount in claim["claim"].items()])
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
    """Values of one container that are the same are said together, and containers with the same values."""
    found: dict[tuple[tuple[str, str, str], tuple[tuple[str, str | None], ...]], list[str]] = {}
    for whose, group in groupby(values, key=lambda one: (str(one.object), one.role, one.container)):
        told: dict[tuple[str, str | None], list[str]] = {}
        for one in group:
            told.setdefault((one.resource, one.to), []).append(f"{one.side}.{one.resource}")
        kind, role, name = whose
        said = tuple((" and ".join(names), to) for (_, to), names in told.items())
        found.setdefault(((kind, role, "" if role in _ROLES else name), said), []).append(name)
    for ((kind, role, _), said), names in found.items():
        who = _who(kind, role, names)
        yield f"set {listed([f'{what} of {who} to {to}' for what, to in said])}"


_ROLES = {"container": "container", "init": "init container", "sidecar": "sidecar", "step": "step"}


#: So many containers are named one by one.
_MOST_NAMED = 4


def _who(of: str, role: str, names: Sequence[str]) -> str:
    """Whose values they are; of what is no pod template the object, too, since there are several."""
    if role == "pod":
        return "the pod level"
    tekton = of.partition("/")[0] in _OF_TEKTON
    if role == "task":
        return f"the whole Task in {of}"
    word = _ROLES.get(role, "container")
    who = f"{word}{'s' * (len(names) > 1)} {listed(names)}"
    if len(names) > _MOST_NAMED:
        who = f"the {len(names)} {word}s {names[0]} to {names[-1]}"
    return f"{who} of {of}" if tekton else who


_OF_TEKTON = frozenset({"Task", "TaskRun", "Pipeline", "PipelineRun"})


def listed(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    if len(parts) < 3:
        return " and ".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


#: So many other workloads are named.
_MOST_RIVALS = 3


def shared(refs: Sequence[ObjectRef]) -> str:
    """That others take of the room that is made; added to the sentence."""
    return f", since {_named(refs)} {'takes' if len(refs) == 1 else 'take'} of the same room"


def contested(refs: Sequence[ObjectRef]) -> str:
    """That others may come first, of which it is not known how much they take."""
    were = "was" if len(refs) == 1 else "were"
    return f"{_named(refs)} {were} refused by a quota, too, and may take the room first"


def _named(refs: Sequence[ObjectRef]) -> str:
    names = [f"{ref.kind}/{ref.name}" for ref in refs]
    more = len(names) - _MOST_RIVALS
    return listed(names if more <= 0 else [*names[:_MOST_RIVALS], f"{more} more"])


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
