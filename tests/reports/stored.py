"""Stores with objects written as they are on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from kubectl_kres.model.kinds import BY_KIND, KINDS
from kubectl_kres.model.objects import ObjectRef
from kubectl_kres.render.text.sentences import sentence_text
from kubectl_kres.render.verdict.note import note_text
from kubectl_kres.reports.common.explanation import Subject
from kubectl_kres.store.store import READ, Origin, ReadRequest, Store

Raw = Mapping[str, Any]


def made(
    kind: str, name: str, *, spec: Raw | None = None, status: Raw | None = None, **metadata: Any
) -> dict[str, Any]:
    """An object of the namespace ns; further words are its metadata."""
    parts = {"spec": spec, "status": status}
    kept = {key: value for key, value in parts.items() if value is not None}
    return {"kind": kind, "metadata": {"name": name, "namespace": "ns", **metadata}, **kept}


def template(*containers: Raw, **spec: Any) -> dict[str, Any]:
    """The ``template`` of a workload's spec."""
    return {"template": {"spec": {"containers": list(containers) or [{"name": "app"}], **spec}}}


def box(name: str = "app", requests: Any = None, limits: Any = None, **more: Any) -> dict[str, Any]:
    """A container with these amounts."""
    return {"name": name, "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def limits(name: str, **fields: Any) -> dict[str, Any]:
    """A LimitRange with one item, for containers if no ``type`` is given."""
    return made("LimitRange", name, spec={"limits": [{"type": "Container", **fields}]})


def owned_by(kind: str, name: str) -> dict[str, Any]:
    """Metadata that names the controller."""
    return {"ownerReferences": [{"kind": kind, "name": name, "controller": True}]}


def event(about: str, reason: str, message: str, **more: Any) -> dict[str, Any]:
    kind, _, name = about.partition("/")
    involved = {"kind": kind, "name": name, "namespace": "ns"}
    key = f"{name}.{len(message)}.{more.get('lastTimestamp', '')}.{message[-20:]}"
    return {**made("Event", key), "involvedObject": involved, "reason": reason, "message": message, **more}


def store_of(*objects: Raw, unread: tuple[str, ...] = ()) -> Store:
    """A store in which all kinds were read but ``unread``."""
    store = Store(Origin("cluster", "here"))
    for raw in objects:
        item = msgspec.convert(raw, BY_KIND[raw["kind"]].detail)
        if not BY_KIND[raw["kind"]].namespaced:
            item = msgspec.structs.replace(item, metadata=msgspec.structs.replace(item.metadata, namespace=""))
        store.add(raw["kind"], item)
    for kind in KINDS:
        if kind.kind not in unread:
            store.cover(ReadRequest(kind.kind), READ)
    return store


def subject(text: str, raw: Raw | None = None, file: str = "") -> Subject:
    """``Kind/name`` in the namespace ns."""
    kind, _, name = text.partition("/")
    return Subject(ObjectRef(kind, name, "ns"), BY_KIND[kind], raw, file)


def advised(found: Any) -> tuple[str, ...]:
    """What an answer says to do, each way in words; without one its note, if it has any."""
    note = note_text(getattr(found, "note", None))
    return tuple(sentence_text(one.text) for one in found.fixes) or ((note,) if note else ())
