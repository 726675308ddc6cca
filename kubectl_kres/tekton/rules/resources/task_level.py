"""Resources of the whole Task: limits copied to each step, requests divided among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubectl_kres.admission.base.draft import Side
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.provenance.journal import Derive, Entry, Source, Term
from kubectl_kres.quantity import Quantity
from kubectl_kres.tekton.rules.base.amounts import lost, read, share
from kubectl_kres.tekton.rules.resources.container_draft import ContainerDraft, Sourced, replace

_LIMITS = ("tekton/task-level-limit", "tekton/task-level-dropped")
_REQUESTS = ("tekton/task-level-request", "tekton/task-level-dropped")
_FROM_LIMITS = ("tekton/task-level-request-from-limit", "tekton/task-level-dropped")


def apply(
    steps: Sequence[ContainerDraft], whole: ResourceRequirements | None, source: Source, journal: list[Entry] | None
) -> None:
    """Replace the steps' limits and requests as wholes; claims stay as they are.

    ``source`` is the field that ``whole`` stands in. Raises QuantityError.
    Source: tasklevel.go ApplyTaskLevelComputeResources.
    """
    limits = read(whole.limits) if whole is not None else None
    requests = read(whole.requests) if whole is not None else None
    if limits is None and requests is None:
        return
    for step in steps:
        if step.requests is None and requests is None:
            _divide(step, limits, len(steps), source, "limits", _FROM_LIMITS, journal)
        else:
            _divide(step, requests, len(steps), source, "requests", _REQUESTS, journal)
        replace(step, "limits", _sourced(limits, source), _LIMITS, source, journal)


def _divide(
    step: ContainerDraft,
    whole: Mapping[str, Quantity] | None,
    number: int,
    source: Source,
    side: Side,
    rules: tuple[str, str],
    journal: list[Entry] | None,
) -> None:
    parts = {
        name: (share(quantity, name, number), source.at(f"{source.field}.{side}[{name}]"))
        for name, quantity in (whole or {}).items()
    }
    given, _ = rules
    replace(step, "requests", parts, rules, source, journal)
    if journal is None:
        return
    for name, (part, where) in parts.items():
        quantity = (whole or {})[name]
        terms = (
            Term(f"{where.field} {quantity} / {number} steps", str(part)),
            Term("lost in the division", str(lost(quantity, part, number)), kept=False),
        )
        journal.append(Derive(step.at("requests", name), given, str(part), terms, where))


def _sourced(limits: Mapping[str, Quantity] | None, source: Source) -> dict[str, Sourced]:
    return {name: (quantity, source.at(f"{source.field}.limits[{name}]")) for name, quantity in (limits or {}).items()}
