"""The next pod as its controller sends it, with all that is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from kubectl_kres.model.raw import Raw
from kubectl_kres.model.workload import template_in
from kubectl_kres.reports.start import Start
from kubectl_kres.reports.subject import Subject
from kubectl_kres.reports.template import template_of


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
    return None if template is None else _made(msgspec.to_builtins(template, enc_hook=str), ref.name, ref.namespace)


def _made(template: Mapping[str, Any], name: str, namespace: str) -> dict[str, Any]:
    metadata = template.get("metadata") or {}
    kept = {key: metadata[key] for key in ("labels", "annotations", "finalizers") if metadata.get(key)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**kept, "name": name, "namespace": namespace},
        "spec": template.get("spec") or {},
    }
