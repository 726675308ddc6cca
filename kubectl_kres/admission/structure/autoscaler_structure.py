"""What validation finds in a HorizontalPodAutoscaler's bounds; its target, metrics and behaviour are taken as valid."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.base.outcome import FieldError, Server, forbidden, number, required
from kubectl_kres.admission.structure.metadata_structure import metadata_errors
from kubectl_kres.model.objects import Raw, integer, items, mapping, text

RULE = "validation/autoscaler"
_OWN = "must specify at least one Object or External metric to support scaling to zero replicas"


def autoscaler_errors(raw: Raw, server: Server) -> Iterator[FieldError]:
    """In the server's order. Source: autoscaling/validation.go validateHorizontalPodAutoscalerSpec."""
    yield from metadata_errors(raw, server)
    spec = mapping(raw, "spec")
    least, most = integer(spec, "minReplicas"), integer(spec, "maxReplicas") or 0
    bound = 0 if server.has_change("autoscaler/scale-to-zero") else 1
    if least is not None and least < bound:
        yield number("spec.minReplicas", least, f"must be greater than or equal to {bound}", RULE)
    if most == 0:
        detail = "" if server.has_change("autoscaler/most-required") else "must be set and greater than 0"
        yield required("spec.maxReplicas", detail, RULE)
    elif most < 0:
        yield number("spec.maxReplicas", most, "must be greater than or equal to 1", RULE)
    if least is not None and most < least:
        yield number("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`", RULE)
    if least == 0 and not any(text(metric, "type") in {"Object", "External"} for metric in items(spec, "metrics")):
        yield forbidden("spec.metrics", _OWN, RULE)
