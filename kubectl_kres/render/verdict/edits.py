"""The edits of a remedy in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.remedy import (
    OLD_PODS_FIRST,
    CreateObject,
    DeleteObject,
    Edit,
    EditClaim,
    KeptBy,
    MakeEdits,
    NoCommand,
    RaiseQuota,
    RoomTaken,
    Scale,
    SetBound,
    SetConfig,
    SetValue,
    SharedRoom,
)
from kubectl_kres.wording import join_words

OLD_FIRST_TEXT = "let old pods go before new ones come (maxSurge 0, maxUnavailable {number})"


def edits_text(edits: Sequence[Edit]) -> str:
    """Return all edits in one line: quotas and LimitRanges first, then the values, container by container."""
    owners = [edit for edit in edits if isinstance(edit, (RaiseQuota, SetBound, CreateObject))]
    values = [edit for edit in edits if isinstance(edit, SetValue)]
    others = [edit for edit in edits if edit not in owners and edit not in values]
    raised = [owner for owner in owners if isinstance(owner, RaiseQuota)]
    others_of = [owner for owner in owners if not isinstance(owner, RaiseQuota)]
    deleted = [edit for edit in others if isinstance(edit, DeleteObject)]
    others = [edit for edit in others if not isinstance(edit, DeleteObject)]
    first = [edit for edit in others if edit.field in OLD_PODS_FIRST]
    others = [edit for edit in others if edit not in first]
    parts = [
        *_deletion_texts(deleted),
        *_raise_texts(raised),
        *map(_owner, others_of),
        *_values(values),
        *((OLD_FIRST_TEXT.format(number=1),) if first else ()),
        *map(_format_edit, others),
    ]
    return _merge_unknown_remarks(join_words(parts))


def _merge_unknown_remarks(text: str) -> str:
    """Return the sentence with the remark on values that nobody knows behind the last of them."""
    more, remark, last = text.rpartition(_UNKNOWN)
    return f"{more.replace(_UNKNOWN, '')}{remark}{last}"


def _deletion_texts(edits: Sequence[DeleteObject]) -> Iterable[str]:
    """Return the deleted objects, kind by kind, with what is lost."""
    for kind, group in groupby(edits, key=lambda edit: edit.object.kind):
        gone = list(group)
        names = join_words([edit.object.name for edit in gone])
        if kind == "Job":
            pods = sum(edit.pods for edit in gone)
            have = "have" if len(gone) > 1 else "has"
            what = f"{pods} finished pod{'s' * (pods != 1)}, which count/pods counts"
            yield f"delete Job{'s' * (len(gone) > 1)} {names}, which {have} ended and {have} {what}"
        elif kind in _OF_TEKTON:
            have, names = "have" if len(gone) > 1 else "has", join_words([str(edit.object) for edit in gone])
            yield f"delete {names}, which {have} ended and still {have} claims: {CLAIM_GOES}"
        else:
            yield f"delete {kind}{'s' * (len(gone) > 1)} {names}, which no pod is of (a rollback to it is lost)"


#: What is lost with a run of Tekton.
CLAIM_GOES = "a claim lives as long as the run that it was made for, and its data goes with it"


def _raise_texts(edits: Sequence[RaiseQuota]) -> Iterable[str]:
    """Return the raised names of one quota together."""
    for ref, group in groupby(edits, key=lambda raise_quota: raise_quota.object):
        name = f"quota {ref.name}" if ref.kind == "ResourceQuota" else str(ref)
        parts = [
            f"{raise_quota.resource} to {raise_quota.to}"
            + (f" ({raise_quota.next_pod} is enough for the next pod)" if raise_quota.next_pod else "")
            for raise_quota in group
        ]
        yield f"raise {name}: {join_words(parts)}" if len(parts) > 1 else _one_raised(name, parts[0])


def _one_raised(quota: str, part: str) -> str:
    resource, _, rest = part.partition(" ")
    return f"raise {resource} of {quota} {rest}"


def _owner(value: SetBound | CreateObject) -> str:
    if isinstance(value, SetBound) and value.bound.startswith("default"):
        return (
            f"set {value.bound}.{value.resource} per {value.limit_type} of LimitRange {value.object.name} to {value.to}"
        )
    if isinstance(value, SetBound):
        verb = "lower" if value.bound == "min" else "raise"
        bound = f"{value.bound}.{value.resource} per {value.limit_type}"
        return f"{verb} {bound} of LimitRange {value.object.name} to {value.to}"
    claim = value.manifest.get("spec", {})
    if value.object.kind == "LimitRange":
        defaults = [
            f"{side}.{name} {amount}"
            for item in claim["limits"]
            for side in ("default", "defaultRequest")
            for name, amount in item.get(side, {}).items()
        ]
        return f"create LimitRange {value.object.name} with {join_words(defaults)} per Container"
    if value.object.kind == "ResourcePoolClaim":
        amounts = join_words([f"{name} {amount}" for name, amount in claim["claim"].items()])
        return f"create a claim on pool {claim['pool']} for {amounts} more"
    if value.object.kind == "ResourceQuota":
        amounts = join_words([f"{name} {amount}" for name, amount in claim["hard"].items()])
        scopes = f" and scope {join_words(claim['scopes'])}" if claim.get("scopes") else ""
        why = "the server admits such pods only under one"
        return f"create ResourceQuota {value.object.name} with {amounts}{scopes}: {why}"
    return f"create {value.object}"


def _format_edit(value: Edit) -> str:
    if isinstance(value, Scale):
        word = value.field.rpartition(".")[2]
        whose = f" of {value.object}" if value.object.kind == "HorizontalPodAutoscaler" else ""
        return f"lower {word}{whose} to {value.to}"
    if isinstance(value, SetConfig):
        return _format_configuration(value)
    if isinstance(value, EditClaim) and value.object.kind == "ResourcePoolClaim":
        return f"raise {value.resource} of claim {value.object.name} (unused) to {value.to}"
    if isinstance(value, EditClaim):
        template = value.field.partition(".spec.resources")[0]
        return f"set requests.{value.resource} of {template} to {value.to}"
    return f"set {value.field} of {value.object}"


def _format_configuration(edit: SetConfig) -> str:
    """Return the sentence of a changed configuration; the Tekton Operator reverts a change of a ConfigMap that it
    keeps.
    """
    by_operator = edit.object.kind != "ConfigMap"
    holder = f"{edit.object.kind} {edit.object.name}{' at ' + edit.field if by_operator else ''}"
    because = " (the Tekton Operator keeps the ConfigMap)" if by_operator else ""
    if not edit.entries:
        return f"set {edit.resource} to {edit.to} in {holder}{because}"
    texts: dict[str, list[str]] = {}
    for name, sides in edit.entries.items():
        texts.setdefault(_entry_text(sides), []).append(name)
    entries = join_words([f"{join_words(names)} {text}" for text, names in texts.items()])
    return f"give {entries} in {edit.resource} of {holder}{because}, for the runs of all namespaces"


def _entry_text(sides: Mapping[str, Mapping[str, str]]) -> str:
    requests, limits = sides.get("requests", {}), sides.get("limits", {})
    parts = []
    for name in dict.fromkeys((*requests, *limits)):
        if requests.get(name) == limits.get(name):
            parts.append(f"{name} {limits[name]}")
        else:
            parts += [
                f"{side}.{name} {amounts[name]}"
                for side, amounts in (("requests", requests), ("limits", limits))
                if name in amounts
            ]
    return join_words(parts)


def _values(values: Sequence[SetValue]) -> Iterable[str]:
    """Return the changed values; equal values of one container are joined, and containers with the same values."""
    if len(values) == 1 and (text := _format_lowered_value(values[0])):
        yield text
        return
    result: dict[tuple[tuple[str, str, str], tuple[tuple[str, str | None], ...]], list[str]] = {}
    for whose, group in groupby(
        values, key=lambda set_value: (str(set_value.object), set_value.role, set_value.container)
    ):
        names_by_value: dict[tuple[str, str | None], list[str]] = {}
        for set_value in group:
            to = _EXAMPLES[set_value.basis].format(set_value.to)
            names_by_value.setdefault((set_value.resource, to), []).append(f"{set_value.side}.{set_value.resource}")
        kind, role, name = whose
        texts = tuple((" and ".join(names), to) for (_, to), names in names_by_value.items())
        result.setdefault(((kind, role, "" if role in _ROLES else name), texts), []).append(name)
    for ((kind, role, _), texts), names in result.items():
        owner = _format_value_owner(kind, role, names)
        yield f"set {join_words([f'{what} of {owner} to {to}' for what, to in texts])}"


def _format_lowered_value(edit: SetValue) -> str:
    """Return the sentence of a single value of a step that has to be lower; empty for any other."""
    if edit.role != "step" or edit.basis or edit.from_ is None or edit.to is None:
        return ""
    if parse(edit.to) >= parse(edit.from_):
        return ""
    owner = _format_value_owner(str(edit.object), edit.role, [edit.container])
    return f"lower {edit.side}.{edit.resource} of {owner} from {edit.from_} to {edit.to}"


_UNKNOWN = " (kres does not know what it needs)"
#: A value that nobody knows is an example, and says where it comes from.
_EXAMPLES: Mapping[str, str] = {
    "": "{}",
    "request": "e.g. {} (its request)",
    "limit": "e.g. {} (its limit)",
    "unknown": f"e.g. {{}}{_UNKNOWN}",
}
_ROLES = {"container": "container", "init": "init container", "sidecar": "sidecar", "step": "step"}


#: So many containers are named one by one.
_MOST_NAMED = 4


def _format_value_owner(holder: str, role: str, names: Sequence[str]) -> str:
    """Return the owner of the values; for an object without a pod template the object, too, since there are several."""
    if role == "pod":
        return "the pod level"
    tekton = holder.partition("/")[0] in _OF_TEKTON
    if role == "task":
        return f"spec.computeResources of {holder}"
    word = _ROLES.get(role, "container")
    owner = f"{word}{'s' * (len(names) > 1)} {join_words(names)}"
    if len(names) > _MOST_NAMED:
        owner = f"the {len(names)} {word}s {names[0]} to {names[-1]}"
    return f"{owner} of {holder}" if tekton else owner


_OF_TEKTON = frozenset({"Task", "TaskRun", "Pipeline", "PipelineRun"})


#: So many other workloads are named.
_MOST_RIVALS = 3


def _room_taken(room: RoomTaken) -> str:
    were = "was" if len(room.workloads) == 1 else "were"
    return f"{_format_refs(room.workloads)} {were} refused by a quota, too, and may take the room first"


def _format_refs(refs: Sequence[ObjectRef]) -> str:
    names = [f"{ref.kind}/{ref.name}" for ref in refs]
    more = len(names) - _MOST_RIVALS
    return join_words(names if more <= 0 else [*names[:_MOST_RIVALS], f"{more} more"])


_NO_COMMAND: Mapping[str, str] = {
    "claim-templates": (
        "claim templates cannot be changed: delete the StatefulSet with --cascade=orphan, so that its pods and claims "
        "stay, and create it again with these values"
    ),
    "job-template": "the template of a Job cannot be changed",
    "job": "the template of a Job cannot be changed: delete the Job and create it again with these values",
    "pod": "the requests and limits of a pod are changed in its manifest, which is then created anew",
    "run": "a {about} that exists cannot be changed: create a new one with these values",
    "pod-fixed": "this cannot be changed in a pod",
    "class": "the class of a claim cannot be changed: delete the claim, which has no volume, and make it anew",
    "size": "its size is for whoever wrote the pod to say",
    "storage": "only who runs the cluster knows the storage behind it",
    "choice": "which of the pods runs is yours to decide",
    "contexts": "stepTemplate.securityContext of the Task gives it to all steps at once",
    "manifest": "change the manifest of {about}",
    "create": "create the {about} from a manifest",
}


def _no_command(reason: NoCommand) -> str:
    printed = reason.why == "create" and reason.about == "ResourcePoolClaim"
    shown = "; kubectl kres claims --for TYPE/NAME prints it" if printed else ""
    return f"{_NO_COMMAND[reason.why].format(about=reason.about)}{shown}"


def _kept_by(kept: KeptBy) -> str:
    owns = f"{kept.by} owns {join_words(kept.names) or 'it'}"
    match kept.where:
        case "owner":
            return f"{owns}: change that instead"
        case "source":
            return f"{owns}: edit its source"
        case "release":
            return f"{owns} (release {kept.sign}): edit the values of the release"
        case "label":
            return f"{owns} (label {kept.sign}): edit its source"
        case "pool":
            return f"{owns} for pool {kept.sign}: claim more from the pool instead"
        case "distributed":
            return f"{owns} ({kept.sign}): edits are undone, or refused; change {kept.owner} instead"


WORDS: Mapping[type, Callable[[Any], str]] = {
    KeptBy: _kept_by,
    NoCommand: _no_command,
    MakeEdits: lambda make: f"{edits_text(make.edits)}{', as much as is used' * make.as_used}",
    RoomTaken: _room_taken,
    SharedRoom: lambda room: f"(includes room for the missing pods of {_format_refs(room.workloads)})",
}
