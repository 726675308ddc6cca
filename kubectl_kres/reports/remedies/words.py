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
    owners = [edit for edit in edits if isinstance(edit, (RaiseQuota, SetBound, CreateObject))]
    values = [edit for edit in edits if isinstance(edit, SetValue)]
    others = [edit for edit in edits if edit not in owners and edit not in values]
    raised = [owner for owner in owners if isinstance(owner, RaiseQuota)]
    others_of = [owner for owner in owners if not isinstance(owner, RaiseQuota)]
    parts = [*_raised(raised), *map(_owner, others_of), *_values(values), *map(_other, others)]
    return listed(parts)


def _raised(edits: Sequence[RaiseQuota]) -> Iterable[str]:
    """The names of one quota together."""
    for name, group in groupby(edits, key=lambda raise_quota: raise_quota.object.name):
        parts = [
            f"{raise_quota.resource} to {raise_quota.to}"
            + (f" ({raise_quota.next_pod} is enough for the next pod)" if raise_quota.next_pod else "")
            for raise_quota in group
        ]
        yield f"raise quota {name}: {listed(parts)}" if len(parts) > 1 else _one_raised(name, parts[0])


def _one_raised(quota: str, part: str) -> str:
    resource, _, rest = part.partition(" ")
    return f"raise {resource} of quota {quota} {rest}"


def _owner(value: SetBound | CreateObject) -> str:
    if isinstance(value, SetBound) and value.bound.startswith("default"):
        return f"set {value.bound}.{value.resource} per {value.of} of LimitRange {value.object.name} to {value.to}"
    if isinstance(value, SetBound):
        verb = "lower" if value.bound == "min" else "raise"
        return f"{verb} {value.bound}.{value.resource} per {value.of} of LimitRange {value.object.name} to {value.to}"
    claim = value.manifest.get("spec", {})
    if value.object.kind == "LimitRange":
        given = [
            f"{side}.{name} {amount}"
            for item in claim["limits"]
            for side in ("default", "defaultRequest")
            for name, amount in item.get(side, {}).items()
        ]
        return f"create LimitRange {value.object.name} with {listed(given)} per Container"
    if value.object.kind == "ResourcePoolClaim":
        amounts = listed([f"{name} {amount}" for name, amount in claim["claim"].items()])
        return f"claim {amounts} more from pool {claim['pool']}"
    return f"create {value.object}"


def _other(value: Edit) -> str:
    if isinstance(value, Scale):
        word = "parallelism" if value.field.endswith("parallelism") else "replicas"
        return f"lower {word} to {value.to}"
    if isinstance(value, EditClaim) and value.object.kind == "ResourcePoolClaim":
        return f"let claim {value.object.name}, which is unused, ask for {value.resource} {value.to}"
    if isinstance(value, EditClaim):
        template = value.field.partition(".spec.resources")[0]
        return f"set requests.{value.resource} of {template} to {value.to}"
    return f"set {value.field} of {value.object}"


def _values(values: Sequence[SetValue]) -> Iterable[str]:
    """Values of one container that are the same are said together, and containers with the same values."""
    result: dict[tuple[tuple[str, str, str], tuple[tuple[str, str | None], ...]], list[str]] = {}
    for whose, group in groupby(
        values, key=lambda set_value: (str(set_value.object), set_value.role, set_value.container)
    ):
        told: dict[tuple[str, str | None], list[str]] = {}
        for set_value in group:
            told.setdefault((set_value.resource, set_value.to), []).append(f"{set_value.side}.{set_value.resource}")
        kind, role, name = whose
        texts = tuple((" and ".join(names), to) for (_, to), names in told.items())
        result.setdefault(((kind, role, "" if role in _ROLES else name), texts), []).append(name)
    for ((kind, role, _), texts), names in result.items():
        who = _who(kind, role, names)
        yield f"set {listed([f'{what} of {who} to {to}' for what, to in texts])}"


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
