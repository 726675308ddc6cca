"""A remedy: a set of edits, each of one value of one object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct, structs

from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.record import Record, Sentence, Wording, joined

Action = Literal["set", "create", "delete"]


#: Where an example comes from: the other side of the same container, or nowhere.
Basis = Literal["", "request", "limit", "unknown"]

#: What it takes for an edit to be undone.
When = Literal["", "self-heal", "interval", "reconcile", "next-sync", "next-release", "next-apply", "resumed"]


class SetValue(Record, frozen=True, omit_defaults=False, tag_field="type", tag="set-value"):
    """One request or limit of a pod template. ``from`` absent: nobody wrote it. ``container`` empty: the pod level.

    ``field``: the path in the object, as the API server writes paths; ``role``: container, init, sidecar or pod.
    ``basis``: where a value that nobody wrote comes from, so that it is only an example; empty: a policy or the
    manifest asks for it.
    """

    object: ObjectRef
    field: str
    resource: str
    to: str | None = None
    from_: str | None = msgspec.field(default=None, name="from")
    container: str = ""
    side: str = ""
    role: str = ""
    action: Action = "set"
    basis: Basis = ""


class RaiseQuota(Record, frozen=True, omit_defaults=False, tag_field="type", tag="raise-quota"):
    """A higher hard for one name of a quota. ``next_pod``: what would be enough for the next pod alone, where that is
    less.
    """

    object: ObjectRef
    field: str
    resource: str
    to: str
    from_: str | None = msgspec.field(default=None, name="from")
    next_pod: str = ""
    action: Action = "set"


class SetBound(Record, frozen=True, omit_defaults=False, tag_field="type", tag="set-bound"):
    """A changed bound of a LimitRange; ``field`` leads to it, ``bound`` is min, max or maxLimitRequestRatio."""

    object: ObjectRef
    field: str
    resource: str
    to: str
    from_: str | None = msgspec.field(default=None, name="from")
    bound: str = ""
    limit_type: str = ""
    action: Action = "set"


class EditClaim(Record, frozen=True, omit_defaults=False, tag_field="type", tag="edit-claim"):
    """The storage that a claim template, or a claim, has to ask for."""

    object: ObjectRef
    field: str
    resource: str
    to: str
    from_: str | None = msgspec.field(default=None, name="from")
    action: Action = "set"


class SetConfig(Record, frozen=True, omit_defaults=False, tag_field="type", tag="set-config"):
    """A key to set in the configuration of a system, in its ConfigMap or where its operator keeps it.

    ``to``: the whole text of the key. ``entries``: what the edit adds to a key that holds entries by container, each
    with its values by side and resource.
    """

    object: ObjectRef
    field: str
    resource: str
    to: str
    from_: str | None = msgspec.field(default=None, name="from")
    entries: Mapping[str, Mapping[str, Mapping[str, str]]] = {}
    action: Action = "set"


class SetField(Record, frozen=True, omit_defaults=False, tag_field="type", tag="set-field"):
    """Any other field of an object that decides about its pods."""

    object: ObjectRef
    field: str
    to: str
    from_: str | None = msgspec.field(default=None, name="from")
    resource: str = ""
    action: Action = "set"


class Scale(Record, frozen=True, omit_defaults=False, tag_field="type", tag="scale"):
    """A changed number of pods: replicas, or the parallelism of a Job."""

    object: ObjectRef
    field: str
    to: int
    from_: int | None = msgspec.field(default=None, name="from")
    resource: str = ""
    action: Action = "set"


class CreateObject(Record, frozen=True, omit_defaults=False, tag_field="type", tag="create-object"):
    """An object to create; ``manifest`` is all of it."""

    object: ObjectRef
    manifest: Mapping[str, Any]
    field: str = ""
    resource: str = ""
    action: Action = "create"


class DeleteObject(Record, frozen=True, omit_defaults=False, tag_field="type", tag="delete-object"):
    """An object to delete, which no longer serves and holds room. ``pods``: finished ones that go with it."""

    object: ObjectRef
    pods: int = 0
    field: str = ""
    resource: str = ""
    action: Action = "delete"


Edit = SetValue | RaiseQuota | SetBound | EditClaim | SetConfig | SetField | Scale | CreateObject | DeleteObject


#: What lets old pods of a rollout go before new ones come.
OLD_PODS_FIRST: Mapping[str, str] = {
    "spec.strategy.rollingUpdate.maxSurge": "0",
    "spec.strategy.rollingUpdate.maxUnavailable": "1",
}


class MakeEdits(Sentence, frozen=True):
    """All of these. ``as_used``: to as much as is used."""

    edits: tuple[Edit, ...]
    as_used: bool = False


class SharedRoom(Sentence, frozen=True):
    """A raise that is also for pods that these workloads lack."""

    workloads: tuple[ObjectRef, ...]


class RoomTaken(Sentence, frozen=True):
    """These workloads may come first, with an unknown share of the room."""

    workloads: tuple[ObjectRef, ...]


class KeptBy(Sentence, frozen=True):
    """Who keeps an object as it is, and where it is changed instead.

    ``where``: owner (it made the object), source (it is applied from there), release (``sign`` of Helm), label
    (``sign`` of the object says so), pool (``sign`` has a quota from it), distributed. Of that ``sign`` tells so, and
    ``owner`` is what distributes it. ``names``: what is kept; none: ``it``.
    """

    by: str
    where: Literal["owner", "source", "release", "label", "pool", "distributed"]
    sign: str = ""
    owner: str = ""
    names: tuple[str, ...] = ()


class NoCommand(Sentence, frozen=True):
    """Why a fix has no command.

    ``why``: create (a manifest makes the object), manifest (it is changed there), claim-templates, job-template, job,
    pod, run (what cannot be changed), pod-fixed (most of a pod cannot), class (of a claim cannot); size, storage and
    choice (what somebody else has to say); contexts (a Task has them for all steps at once).
    """

    why: Literal[
        "create", "manifest", "claim-templates", "job-template", "job", "pod", "run", "pod-fixed", "class", "size",
        "storage", "choice", "contexts",
    ]  # fmt: skip
    about: str = ""


class Permanence(Record, frozen=True):
    """What becomes of an edit once it is made.

    ``state``: ``stays`` where nothing was seen that would undo it. ``by``: who undoes it, or may. ``when``: what it
    takes for that; ``within``: how long that is at most, as a Go duration. ``reason``: why it is not known; of what was
    not read the state of the read.
    """

    state: Literal["stays", "undone", "unknown"]
    by: str = ""
    when: When = ""
    within: str = ""
    reason: str = ""


class Admits(Record, frozen=True, omit_defaults=False):
    """The number of pods of the newest template that exist once the remedy is applied, and how many are wanted then."""

    pods: int
    wanted: int


class Remedy(Record, frozen=True, omit_defaults=False):
    """A set of edits that is a complete remedy. ``commands``: lines for kubectl, one process each, that make the edits.

    ``no_command_reason``: why some or all of the edits have no command. ``admits`` absent: nothing was tried.
    ``remaining_refusal``: the refusal that remains, where not all wanted pods come. ``proven``: tried in the engine.
    ``owners``: the owners of other objects in the quota, where one of them must give way. ``text``: the whole in words.

    ``shared``: other workloads that lack pods and take of the room that is made, which is counted in. ``contested``:
    those that may take it, of which too little is known to say how much. ``by_hand``: what mends the refusals of
    ``remaining_refusal``, for which there is no edit; ``text`` begins with it. ``stays``: what becomes of the edits;
    absent: there are none, or they are made in a file.
    """

    text: Wording
    edits: tuple[Edit, ...] = ()
    commands: tuple[str, ...] = ()
    no_command_reason: Wording = ""
    admits: Admits | None = None
    remaining_refusal: Wording = ""
    proven: bool = False
    owners: str = ""
    shared: tuple[ObjectRef, ...] = ()
    contested: tuple[ObjectRef, ...] = ()
    by_hand: Wording = ""
    stays: Permanence | None = None


class PassingRoom(Struct, frozen=True):
    """What gives room back in full quotas: by itself, and by a deletion; each as fixes that were tried."""

    by_itself: tuple[Remedy, ...] = ()
    by_deletion: tuple[Remedy, ...] = ()


def untested_remedies(texts: Sequence[Wording]) -> tuple[Remedy, ...]:
    """Return sentences that are all needed as one remedy that was not tried; none for no sentences."""
    return (Remedy(joined(*texts)),) if texts else ()


def after_sentences(remedies: Sequence[Remedy], texts: Sequence[Wording]) -> tuple[Remedy, ...]:
    """Return the remedies, each behind the sentences on what no edit mends; as they are where there is no sentence."""
    hand = joined(*texts)
    if not hand:
        return tuple(remedies)
    return tuple(
        structs.replace(remedy, text=joined(hand, remedy.text, between="; then "), by_hand=hand) for remedy in remedies
    )
