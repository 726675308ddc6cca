"""A remedy of edits that were tried: what becomes of them, its commands, and who owns what it edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from kubectl_kres.model.objects import Metadata, ObjectRef
from kubectl_kres.provenance.journal import Source
from kubectl_kres.record import Wording, joined
from kubectl_kres.reports.common.explanation import ContainerValues, ResourceValue, Subject, Verdict
from kubectl_kres.reports.common.remedy import (
    Admits,
    DeleteObject,
    Edit,
    EditClaim,
    KeptBy,
    MakeEdits,
    RaiseQuota,
    Remedy,
)
from kubectl_kres.reports.common.system import MoreRoom, quota_keepers
from kubectl_kres.reports.remedies.commands import commands, unchangeable, usage_command
from kubectl_kres.reports.remedies.keepers import kept_by
from kubectl_kres.reports.remedies.refusal_fixes import CorrectDefaults
from kubectl_kres.store.store import Store
from kubectl_kres.wording import join_words


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
        no_command_reason=joined(room.reason, remedy.no_command_reason),
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
    changed_in: dict[ObjectRef, Wording] = {**managed, written.ref: edit_file(written.file)} if filed else managed
    stored = [edit for edit in filed if _exists(store, edit)]
    reasons = [*_owners(changed_in, edits), *dict.fromkeys((*unchangeable(stored).values(), *fixed.values()))]
    raising = [edit for edit in edits if isinstance(edit, RaiseQuota)]
    return Remedy(
        MakeEdits(tuple(edits)),
        tuple(edits),
        commands(origin, made, {**managed, **fixed}),
        joined(*reasons),
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


def _owners(kept: Mapping[ObjectRef, Wording], edits: Sequence[Edit]) -> Iterator[Wording]:
    """Return who owns which of the objects; why one cannot be changed, with its name where that is not so of all."""
    whole = len(set(kept.values())) == 1 and all(edit.object in kept for edit in edits)
    for owner in dict.fromkeys(kept.values()):
        names = tuple(str(ref) for ref in kept if kept[ref] == owner)
        if isinstance(owner, KeptBy):
            yield structs.replace(owner, names=names)
        else:
            yield owner if whole else joined(join_words(names), owner, between=": ")


def _find_edit_owners(store: Store, edits: Sequence[Edit]) -> Iterator[tuple[ObjectRef, Wording]]:
    # What a controller made, and no longer serves, it does not make again.
    for ref in dict.fromkeys(edit.object for edit in edits if not isinstance(edit, DeleteObject)):
        # A ConfigMap of a file is a copy of the cluster's.
        if ref in store.files and ref.kind != "ConfigMap":
            yield ref, edit_file(store.files[ref])
            continue
        result = store.get(ref.kind, ref.name, ref.namespace)
        metadata = getattr(result, "metadata", None)
        if isinstance(metadata, Metadata) and (kept := kept_by(store, metadata)):
            yield ref, kept


_BROKEN = {"limitrange/ratio": "maxLimitRequestRatio", "limitrange/max": "max", "limitrange/min": "min"}


_BY_SERVER = ("limitrange/", "defaulting/")


def own_defaults(verdict: Verdict, containers: Sequence[ContainerValues]) -> CorrectDefaults | None:
    """Return that a LimitRange refuses its own defaults, so that no pod without values is admitted; None: none does."""
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
            return CorrectDefaults(source.name, finding.resource, _BROKEN.get(finding.rule, "bounds"))
    return None


def _is_from(value: ResourceValue, source: Source) -> bool:
    return value.source is not None and value.source.ref == source.ref
