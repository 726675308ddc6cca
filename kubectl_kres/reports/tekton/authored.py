"""A TaskRun's pod with nothing but what the author of the Task wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import structs

from kubectl_kres.model.pod import Container, Pod, ResourceRequirements
from kubectl_kres.provenance.journal import Journal, Set

#: What the author of the Task wrote, in contrast to whoever runs it.
_AUTHORED = frozenset({"tekton/step", "tekton/step-template", "tekton/sidecar"})


def authored(pod: Pod, journal: Journal) -> Pod:
    """The pod as the Task says it; what Tekton then did to it stands in the journal."""
    written = {
        entry.path: entry.after
        for entry in journal
        if isinstance(entry, Set) and entry.rule in _AUTHORED and entry.after is not None
    }
    spec = structs.replace(
        pod.spec,
        containers=_with(pod.spec.containers or (), "spec.containers", written),
        init_containers=_with(pod.spec.init_containers or (), "spec.initContainers", written),
    )
    return structs.replace(pod, spec=spec)


def _with(containers: Iterable[Container], field: str, written: Mapping[str, str]) -> tuple[Container, ...]:
    return tuple(
        structs.replace(one, resources=_resources(one.resources, f"{field}[{index}]", written))
        for index, one in enumerate(containers)
    )


def _resources(held: ResourceRequirements | None, path: str, written: Mapping[str, str]) -> ResourceRequirements | None:
    sides: dict[str, dict[str, str]] = {"limits": {}, "requests": {}}
    for side, values in sides.items():
        head = f"{path}.resources.{side}["
        values.update({at[len(head) : -1]: text for at, text in written.items() if at.startswith(head)})
    claims = held.claims if held is not None else None
    if not (sides["limits"] or sides["requests"] or claims):
        return None
    return ResourceRequirements(sides["limits"] or None, sides["requests"] or None, claims)
