"""A remedy: edits that together let the wanted pods in, the commands that make them, and what then comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from kubectl_kres.model.meta import ObjectRef
from kubectl_kres.reports.common.record import Record

Action = Literal["set", "create", "delete"]


#: Where an example comes from: the other side of the same container, or nowhere.
Basis = Literal["", "request", "limit", "unknown"]


class SetValue(Record, frozen=True, omit_defaults=False, tag_field="type", tag="set-value"):
    """One request or limit of a pod template. ``from`` absent: nobody wrote it. ``container`` empty: the pod level.

    ``field``: the path in the object, as the API server writes paths; ``role``: container, init, sidecar or pod.
    ``basis``: where a value comes from that nobody wrote, so that it is no more than an example; empty: a policy or
    what was written asks for it.
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
    """More of one name of a quota. ``next_pod``: what would be enough for the next pod alone, where that is less."""

    object: ObjectRef
    field: str
    resource: str
    to: str
    from_: str | None = msgspec.field(default=None, name="from")
    next_pod: str = ""
    action: Action = "set"


class SetBound(Record, frozen=True, omit_defaults=False, tag_field="type", tag="set-bound"):
    """One bound of a LimitRange; ``field`` leads to it, ``bound`` is min, max or maxLimitRequestRatio."""

    object: ObjectRef
    field: str
    resource: str
    to: str
    from_: str | None = msgspec.field(default=None, name="from")
    bound: str = ""
    of: str = ""
    action: Action = "set"


class EditClaim(Record, frozen=True, omit_defaults=False, tag_field="type", tag="edit-claim"):
    """The storage that a claim template, or a claim, asks for."""

    object: ObjectRef
    field: str
    resource: str
    to: str
    from_: str | None = msgspec.field(default=None, name="from")
    action: Action = "set"


class SetConfig(Record, frozen=True, omit_defaults=False, tag_field="type", tag="set-config"):
    """A key of Tekton's configuration, in its ConfigMap or where the Tekton Operator keeps it.

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


class Scale(Record, frozen=True, omit_defaults=False, tag_field="type", tag="scale"):
    """Another number of pods: replicas, or the parallelism of a Job."""

    object: ObjectRef
    field: str
    to: int
    from_: int | None = msgspec.field(default=None, name="from")
    resource: str = ""
    action: Action = "set"


class CreateObject(Record, frozen=True, omit_defaults=False, tag_field="type", tag="create-object"):
    """An object that is not there; ``manifest`` is all of it."""

    object: ObjectRef
    manifest: Mapping[str, Any]
    field: str = ""
    resource: str = ""
    action: Action = "create"


class DeleteObject(Record, frozen=True, omit_defaults=False, tag_field="type", tag="delete-object"):
    """An object that no longer serves and holds room. ``pods``: finished ones that go with it."""

    object: ObjectRef
    pods: int = 0
    field: str = ""
    resource: str = ""
    action: Action = "delete"


Edit = SetValue | RaiseQuota | SetBound | EditClaim | SetConfig | Scale | CreateObject | DeleteObject


class Admits(Record, frozen=True, omit_defaults=False):
    """How many pods of the newest template exist at rest once the remedy is applied, and how many are wanted then."""

    pods: int
    of: int


class Remedy(Record, frozen=True, omit_defaults=False):
    """One way that is complete alone. ``commands``: lines for kubectl, one process each, that make the edits.

    ``why``: why some or all of the edits have no command. ``admits`` absent: nothing was tried. ``stays``: the refusal
    that remains, where not all wanted pods come. ``proven``: tried in the engine. ``ask``: who uses the quota, where
    another must give way. ``text``: the whole in words.

    ``shared``: other workloads that lack pods and take of the room that is made, which is counted in.
    ``contested``: those that may take it, of which too little is known to say how much.
    """

    text: str
    edits: tuple[Edit, ...] = ()
    commands: tuple[str, ...] = ()
    why: str = ""
    admits: Admits | None = None
    stays: str = ""
    proven: bool = False
    ask: str = ""
    shared: tuple[ObjectRef, ...] = ()
    contested: tuple[ObjectRef, ...] = ()
