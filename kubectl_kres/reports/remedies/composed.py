"""Edits put together as a remedy: its words, its commands, who keeps what, and whom to ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from kubectl_kres.admission.request.new_pod import Policies
from kubectl_kres.model.meta import Metadata, ObjectRef
from kubectl_kres.quantity import Quantity, parse
from kubectl_kres.reports.common.remedy import Admits, Edit, RaiseQuota, Remedy
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.reports.common.system import MoreRoom, systems
from kubectl_kres.reports.remedies import words
from kubectl_kres.reports.remedies.commands import asking, commands, unchangeable
from kubectl_kres.reports.remedies.keepers import keeper
from kubectl_kres.reports.remedies.pods import amounts
from kubectl_kres.reports.remedies.room import Raised
from kubectl_kres.store.store import Store


def raises(policies: Policies, need: Raised, namespace: str) -> Iterator[RaiseQuota]:
    """One edit for each name of a quota that has to be more."""
    _, hard = amounts(policies.quotas)
    for quota in policies.quotas:
        for name, before in quota.hard.items():
            key = quota.name, name
            if key not in need.hard:
                continue
            first = need.first.get(key, hard[key])
            next_pod = _amount(first, before, name) if first < need.hard[key] and first > hard[key] else ""
            yield RaiseQuota(
                ObjectRef("ResourceQuota", quota.name, namespace),
                f"spec.hard[{name}]",
                name,
                _amount(need.hard[key], before, name),
                str(before),
                next_pod,
            )


def _amount(nano: int, like: Quantity, name: str) -> str:
    """In the notation of what stands there; bytes in whole Mi are written as such."""
    of_bytes = name.endswith(("memory", "storage")) and nano % (2**20 * 10**9) == 0
    written_decimal = bool(like) and like.nano % 10**15 == 0
    return str(Quantity(nano, "BinarySI" if of_bytes and not written_decimal else like.format))


def composed(store: Store, subject: Subject, edits: Sequence[Edit], admits: Admits, now: int) -> Remedy:
    """The remedy of edits that were tried. ``now``: how many pods come without them.

    Where a system keeps a quota that is too small: more of what it is taken from, not a higher hard.
    """
    space = subject.ref.namespace
    pools = {quota: pool for system in systems() for quota, pool in system.kept_quotas(store, space).items()}
    kept = [edit for edit in edits if isinstance(edit, RaiseQuota) and edit.object.name in pools]
    if not kept:
        return _remedy(store, subject, edits, admits)
    lacks: dict[str, dict[str, str]] = {}
    for raise_quota in kept:
        more = parse(raise_quota.to) - parse(raise_quota.from_ or "0")
        lacks.setdefault(pools[raise_quota.object.name], {})[raise_quota.resource] = str(more)
    room = _more_room(store, subject, lacks)
    remedy = _remedy(store, subject, (*room.edits, *(edit for edit in edits if edit not in kept)), admits)
    return structs.replace(
        remedy,
        commands=(*room.commands, *remedy.commands),
        why="; ".join(filter(None, (room.why, remedy.why))),
        admits=Admits(now, admits.of) if room.waits else remedy.admits,
        stays="; ".join(room.waits),
        proven=room.known,
        ask=asking(store.origin, ObjectRef("ResourceQuota", room.quota, space)),
    )


def _remedy(store: Store, subject: Subject, edits: Sequence[Edit], admits: Admits) -> Remedy:
    kept, of = dict(_kept(store, edits)), store.origin
    filed = [edit for edit in edits if subject.raw is not None and edit.object == subject.ref]
    made = [edit for edit in edits if edit not in filed]
    fixed = {ref: told for ref, told in unchangeable(made).items() if ref not in kept}
    why = [
        *(f"{ref}: {told}" for ref, told in kept.items()),
        *([f"make the edits in {subject.file or 'the file'}"] if filed else []),
        *dict.fromkeys(fixed.values()),
    ]
    raising = [edit for edit in edits if isinstance(edit, RaiseQuota)]
    return Remedy(
        words.sentence(edits),
        tuple(edits),
        commands(of, made, {**kept, **fixed}),
        "; ".join(why),
        admits,
        proven=True,
        ask=asking(of, raising[0].object) if raising and raising[0].object not in store.files else "",
    )


def _more_room(store: Store, subject: Subject, lacks: Mapping[str, Mapping[str, str]]) -> MoreRoom:
    result = (system.more_room(store, subject.ref, lacks) for system in systems())
    return next(more_room for more_room in result if more_room is not None)


def _kept(store: Store, edits: Sequence[Edit]) -> Iterator[tuple[ObjectRef, str]]:
    for ref in dict.fromkeys(edit.object for edit in edits):
        if ref in store.files:
            yield ref, f"make the edit in {store.files[ref]}"
            continue
        result = store.get(ref.kind, ref.name, ref.namespace)
        metadata = getattr(result, "metadata", None)
        if isinstance(metadata, Metadata) and (told := keeper(metadata)):
            yield ref, told
