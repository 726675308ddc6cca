"""The next pod as its controller sends it, with all that is known of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from kubectl_kres.model.raw import Raw
from kubectl_kres.model.workload import template_in
from kubectl_kres.reports.common.analysis import Start
from kubectl_kres.reports.common.pod_template import template_of
from kubectl_kres.reports.common.subject import Subject


def next_pod(subject: Subject, start: Start) -> Raw | None:
    """None: no template of it is known."""
    ref = subject.ref
    if subject.raw is not None:
        if ref.kind == "Pod":
            return subject.raw
        place = template_in(subject.raw)
        return None if place is None else _made(place[1], ref.name, ref.namespace)
    if start.owner is None:
        return None
    template = template_of(start.owner)[1]
    if template is None:
        return None
    raw = on_wire(template)
    _as_started(raw, start)
    return _made(raw, ref.name, ref.namespace)


def _as_started(raw: dict[str, Any], start: Start) -> None:
    """With the containers and amounts that the pod is expected to get beside those of its template."""
    for key, attribute in (("containers", "containers"), ("initContainers", "init_containers")):
        result = {item.get("name"): item for item in raw["spec"].get(key) or ()}
        for item in getattr(start.pod.spec, attribute) or ():
            wire = on_wire(item)
            if item.name in result:
                result[item.name]["resources"] = wire.get("resources") or {}
            else:
                raw["spec"].setdefault(key, []).append(wire)


def _made(template: Mapping[str, Any], name: str, namespace: str) -> dict[str, Any]:
    metadata = template.get("metadata") or {}
    kept = {key: metadata[key] for key in ("labels", "annotations", "finalizers") if metadata.get(key)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**kept, "name": name, "namespace": namespace},
        "spec": template.get("spec") or {},
    }


def on_wire(item: msgspec.Struct) -> dict[str, Any]:
    """The object as the server would write it."""
    try:
        raw: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(item, enc_hook=str))
    except UnicodeEncodeError:
        # Half a surrogate pair, which a file can hold, is no UTF-8.
        raw = json.loads(json.dumps(msgspec.to_builtins(item, enc_hook=str)))
    return raw
