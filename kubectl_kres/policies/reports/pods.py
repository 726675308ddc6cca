"""The next pod as its controller sends it, with all that is known of it."""

from __future__ import annotations

from typing import Any

from kubectl_kres.model.pod import Container, PodSpec
from kubectl_kres.model.raw import Raw, decoded, on_wire
from kubectl_kres.model.workload import template_in
from kubectl_kres.reports.common.analysis import Start
from kubectl_kres.reports.common.pod_template import template_of
from kubectl_kres.reports.common.subject import Subject


def next_pod(subject: Subject, start: Start) -> Raw | None:
    """None: no template of it is known."""
    ref = subject.ref
    if subject.raw is not None:
        if ref.kind == "Pod":
            return _as_started(subject.raw, start)
        place = template_in(subject.raw)
        return None if place is None else _made(_as_started(place[1], start), ref.name, ref.namespace)
    if start.owner is None:
        return None
    template = template_of(start.owner)[1]
    return None if template is None else _made(_as_started(on_wire(template), start), ref.name, ref.namespace)


def added_to(subject: Subject, start: Start) -> frozenset[str]:
    """The names of the containers that a stored object's pod is expected to get beside those of its template."""
    template = template_of(start.owner)[1] if subject.raw is None and start.owner is not None else None
    if template is None:
        return frozenset()
    return frozenset(_names(start.pod.spec)) - frozenset(_names(template.spec))


def _names(spec: PodSpec) -> list[str]:
    return [container.name for container in (*(spec.containers or ()), *(spec.init_containers or ()))]


def _as_started(raw: Raw, start: Start) -> Raw:
    """With the amounts that are tried instead of those that it states, and the containers that it is expected to get.

    Those come behind its own; whatever is not different stays as it is written.
    """
    before, after = decoded(raw.get("spec") or {}, PodSpec), start.pod.spec
    spec = _with_amounts(raw.get("spec") or {}, before, after)
    for key, attribute in (("containers", "containers"), ("initContainers", "init_containers")):
        items, changed = getattr(before, attribute) or (), getattr(after, attribute) or ()
        if items != changed:
            own = [_with_amounts(*parts) for parts in zip(spec.get(key) or (), items, changed, strict=False)]
            spec = {**spec, key: [*own, *map(on_wire, changed[len(own) :])]}
    return {**raw, "spec": spec}


def _with_amounts(raw: Raw, before: PodSpec | Container, after: PodSpec | Container) -> Raw:
    if before.resources == after.resources:
        return raw
    bare = {key: value for key, value in raw.items() if key != "resources"}
    return bare if after.resources is None else {**bare, "resources": on_wire(after.resources)}


def _made(template: Raw, name: str, namespace: str) -> dict[str, Any]:
    metadata = template.get("metadata") or {}
    kept = {key: metadata[key] for key in ("labels", "annotations", "finalizers") if metadata.get(key)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**kept, "name": name, "namespace": namespace},
        "spec": template.get("spec") or {},
    }
