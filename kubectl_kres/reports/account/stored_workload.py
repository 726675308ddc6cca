"""The stored workload that a file changes: its pods stay where the file changes nothing about them."""

from __future__ import annotations

from msgspec import structs

from kubectl_kres.errors import QuantityError, UsageError
from kubectl_kres.model.pod import ResourceRequirements
from kubectl_kres.model.workload import Workload
from kubectl_kres.quantity import parse
from kubectl_kres.reports.common.explanation import Subject, manifest_workload, pod_of_template, template_of
from kubectl_kres.reports.common.replicas import Replicas, pods_of
from kubectl_kres.store.store import Store


def applied_to_stored(store: Store, subject: Subject) -> tuple[Workload | None, Replicas | None]:
    """Return the stored workload with the other fields of a file of the same pods, and its pods then; None: it is
    another one.

    A number that the file does not state stays.
    """
    stored = store.get(subject.ref.kind, subject.ref.name, subject.ref.namespace)
    workload = manifest_workload(subject)
    if not isinstance(stored, Workload) or workload is None or not _same_pods(stored, workload, subject):
        return None, None
    replicas = stored.spec.replicas if workload.spec.replicas is None else workload.spec.replicas
    spec = structs.replace(workload.spec, template=stored.spec.template, replicas=replicas)
    applied = structs.replace(stored, spec=spec)
    try:
        return applied, pods_of(store, subject.ref.kind, applied)
    except UsageError:
        return None, None


def _same_pods(stored: Workload, workload: Workload, subject: Subject) -> bool:
    """Return whether both templates make pods that admission cannot tell apart; what the server fills in plays
    no part.
    """
    return _compared_fields(stored, subject) == _compared_fields(workload, subject)


def _compared_fields(workload: Workload, subject: Subject) -> object:
    template = template_of(workload)[1]
    if template is None:
        return None
    spec = pod_of_template(template, subject).spec
    groups = (spec.containers or (), spec.init_containers or ())
    return (
        [
            [
                (container.name, container.image, container.restart_policy or "", _amounts(container.resources))
                for container in group
            ]
            for group in groups
        ],
        _amounts(spec.resources),
        spec.runtime_class_name or "",
        spec.priority_class_name or "",
    )


def _amounts(resources: ResourceRequirements | None) -> list[dict[str, object]]:
    sides = (resources.limits, resources.requests) if resources is not None else (None, None)
    return [{name: _amount(str(text)) for name, text in (side or {}).items()} for side in sides]


def _amount(text: str) -> object:
    try:
        return parse(text).nano
    except QuantityError:
        return text
