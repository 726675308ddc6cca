"""Remedies in words: the one module that puts edits into sentences, with commands, managers and owners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import structs

from kubectl_kres.model.objects import Metadata, ObjectRef
from kubectl_kres.provenance.journal import Source
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.explanation import ContainerValues, ResourceValue, Subject, Verdict
from kubectl_kres.reports.common.remedy import (
    Admits,
    CreateObject,
    DeleteObject,
    Edit,
    EditClaim,
    RaiseQuota,
    Remedy,
    Scale,
    SetBound,
    SetConfig,
    SetValue,
)
from kubectl_kres.reports.common.system import MoreRoom, quota_keepers
from kubectl_kres.reports.remedies.commands import commands, unchangeable, usage_command
from kubectl_kres.reports.remedies.keepers import manager_sentence, named_owner
from kubectl_kres.store.store import Store
from kubectl_kres.wording import join_words


def sentence(edits: Sequence[Edit]) -> str:
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


#: What lets old pods of a rollout go before new ones come.
OLD_PODS_FIRST: Mapping[str, str] = {
    "spec.strategy.rollingUpdate.maxSurge": "0",
    "spec.strategy.rollingUpdate.maxUnavailable": "1",
}
OLD_FIRST_TEXT = "let old pods go before new ones come (maxSurge 0, maxUnavailable {number})"


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
            yield f"delete {names}, which {have} ended and still {have} claims: {BECAUSE}"
        else:
            yield f"delete {kind}{'s' * (len(gone) > 1)} {names}, which no pod is of (a rollback to it is lost)"


#: What is lost with a run of Tekton.
BECAUSE = "a claim lives as long as the run that it was made for, and its data goes with it"


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


def shared_room_text(refs: Sequence[ObjectRef]) -> str:
    """Return the part of a sentence that the room is also for pods that other workloads lack."""
    return f" (includes room for the missing pods of {_format_refs(refs)})"


def for_new_run(text: str, *, again: bool) -> str:
    """Return the sentence of a fix; ``again``: with what comes after it where only a new run gets the change."""
    return f"{text}, then start a new run" if again else text


def contested_room_text(refs: Sequence[ObjectRef]) -> str:
    """Return the sentence that other workloads may come first, with an unknown share of the room."""
    were = "was" if len(refs) == 1 else "were"
    return f"{_format_refs(refs)} {were} refused by a quota, too, and may take the room first"


def _format_refs(refs: Sequence[ObjectRef]) -> str:
    names = [f"{ref.kind}/{ref.name}" for ref in refs]
    more = len(names) - _MOST_RIVALS
    return join_words(names if more <= 0 else [*names[:_MOST_RIVALS], f"{more} more"])


def untested_remedies(texts: Sequence[str]) -> tuple[Remedy, ...]:
    """Return sentences that are all needed as one remedy that was not tried; none for no sentences."""
    return (Remedy("; ".join(texts)),) if texts else ()


def after_sentences(remedies: Sequence[Remedy], texts: Sequence[str]) -> tuple[Remedy, ...]:
    """Return the remedies, each behind the sentences on what no edit mends; as they are where there is no sentence."""
    hand = "; ".join(texts)
    if not hand:
        return tuple(remedies)
    return tuple(structs.replace(remedy, text=f"{hand}; then {remedy.text}", by_hand=hand) for remedy in remedies)


def compose_remedy(store: Store, subject: Subject, edits: Sequence[Edit], admits: Admits, now: int) -> Remedy:
    """Return the remedy of edits that were tried. ``now``: how many pods come without them.

    Where a system keeps a quota that is too small, its source is raised instead of its hard.
    """
    space = subject.ref.namespace
    rooms = (keeper.replace_raises(store, subject.ref, tuple(edits)) for keeper in quota_keepers())
    room = next((room for room in rooms if room is not None), MoreRoom(tuple(edits)))
    remedy = _remedy(store, subject, room.edits, admits)
    if not room.quota:
        return remedy
    kept = dict(_find_edit_owners(store, [edit for edit in room.edits if isinstance(edit, EditClaim)]))
    return structs.replace(
        remedy,
        commands=(*(() if kept else room.commands), *remedy.commands),
        no_command_reason="; ".join(filter(None, (room.reason, remedy.no_command_reason))),
        admits=Admits(now, admits.wanted) if room.waits else remedy.admits,
        remaining_refusal="; ".join(room.waits),
        proven=room.known,
        owners=usage_command(store.origin, ObjectRef("ResourceQuota", room.quota, space)),
    )


def _remedy(store: Store, subject: Subject, edits: Sequence[Edit], admits: Admits) -> Remedy:
    managed, origin = dict(_find_edit_owners(store, edits)), store.origin
    written = subject.written_subject
    filed = [edit for edit in edits if written.raw is not None and edit.object == written.ref]
    made = [edit for edit in edits if edit not in filed]
    fixed = {ref: names_by_value for ref, names_by_value in unchangeable(made).items() if ref not in managed}
    changed_in = {**managed, written.ref: edit_file(written.file)} if filed else managed
    stored = [edit for edit in filed if _exists(store, edit)]
    reasons = [*_owners(changed_in, edits), *dict.fromkeys((*unchangeable(stored).values(), *fixed.values()))]
    raising = [edit for edit in edits if isinstance(edit, RaiseQuota)]
    return Remedy(
        sentence(edits),
        tuple(edits),
        commands(origin, made, {**managed, **fixed}),
        "; ".join(reasons),
        admits,
        proven=True,
        owners=usage_command(origin, raising[0].object) if raising and raising[0].object not in store.files else "",
    )


def edit_file(name: str) -> str:
    """Return where an object of a file is changed."""
    return f"edit {name or 'the file'}"


def _exists(store: Store, edit: Edit) -> bool:
    """Return whether the object of a file is there already, so that what it is made of cannot be changed."""
    ref = edit.object
    return store.read(ref.kind, ref.name, ref.namespace) is not None


def _owners(kept: Mapping[ObjectRef, str], edits: Sequence[Edit]) -> Iterator[str]:
    """Return who owns which of the objects; why one cannot be changed, with its name where that is not so of all."""
    whole = len(set(kept.values())) == 1 and all(edit.object in kept for edit in edits)
    for owner in dict.fromkeys(kept.values()):
        names = join_words([str(ref) for ref in kept if kept[ref] == owner])
        named = named_owner(owner, names)
        yield named if whole or named != owner else f"{names}: {owner}"


def _find_edit_owners(store: Store, edits: Sequence[Edit]) -> Iterator[tuple[ObjectRef, str]]:
    # What a controller made, and no longer serves, it does not make again.
    for ref in dict.fromkeys(edit.object for edit in edits if not isinstance(edit, DeleteObject)):
        # A ConfigMap of a file is a copy of the cluster's.
        if ref in store.files and ref.kind != "ConfigMap":
            yield ref, edit_file(store.files[ref])
            continue
        result = store.get(ref.kind, ref.name, ref.namespace)
        metadata = getattr(result, "metadata", None)
        if isinstance(metadata, Metadata) and (kept_by := manager_sentence(store, metadata)):
            yield ref, kept_by


_BROKEN = {"limitrange/ratio": "maxLimitRequestRatio", "limitrange/max": "max", "limitrange/min": "min"}


_BY_SERVER = ("limitrange/", "defaulting/")


def own_defaults(verdict: Verdict, containers: Sequence[ContainerValues]) -> str:
    """Return the sentence that a LimitRange refuses its own defaults, so that no pod without values is admitted."""
    for finding in verdict.findings:
        source = finding.source
        if source is None or source.kind != "LimitRange" or not finding.rule.startswith("limitrange/"):
            continue
        values = [
            value
            for container in containers
            if container.path == str(finding.field_path.holder)
            for value in container.values
            if value.resource == finding.resource and value.value
        ]
        # A system may have divided what the LimitRange gives: the bounds of that are sound.
        unchanged = all(value.rule.startswith(_BY_SERVER) for value in values)
        if values and unchanged and all(value.written is None and _is_from(value, source) for value in values):
            what = _BROKEN.get(finding.rule, "bounds")
            return (
                f"correct LimitRange {source.name}: its default {finding.resource} breaks its own {what}, so every pod "
                f"that states no {finding.resource} is refused"
            )
    return ""


def _is_from(value: ResourceValue, source: Source) -> bool:
    return value.source is not None and value.source.ref == source.ref
