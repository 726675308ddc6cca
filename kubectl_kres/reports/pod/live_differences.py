"""The reason why a live pod has another value than admission would set today."""

from __future__ import annotations

from collections.abc import Mapping

from kubectl_kres.admission.limitrange import ANNOTATION
from kubectl_kres.model.objects import ManagedMetadata
from kubectl_kres.model.pod import RESIZES, VPA, Pod
from kubectl_kres.provenance.journal import Source
from kubectl_kres.reports.common.explanation import LastEdit
from kubectl_kres.reports.common.last_editor import last_edit
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.pod.manifest_source import annotation_sets

#: Annotation (or its prefix) to the injector that writes it.
INJECTORS: Mapping[str, str] = {
    "sidecar.istio.io/": "the Istio sidecar injector",
    "linkerd.io/": "the Linkerd proxy injector",
    "vault.hashicorp.com/": "the Vault agent injector",
    "instrumentation.opentelemetry.io/": "the OpenTelemetry operator",
    "dapr.io/": "the Dapr injector",
}
_PREFIXES = tuple(INJECTORS)
_OF_RUN = (
    "no rule known here explains it; LimitRanges, Tekton's configuration or its version may have changed since, or a "
    "webhook changed the pod"
)
#: Managers that only pass on what a template says.
_CONTROLLERS = {"kube-controller-manager", "kube-scheduler", "kubelet"}


def is_edited(pod: Pod) -> bool:
    """Return whether somebody but the controllers wrote to the pod, or resized it, as far as its field managers are
    known.
    """
    managed = pod.metadata.managed_fields if isinstance(pod.metadata, ManagedMetadata) else None
    return any(entry.subresource == "resize" or entry.manager not in _CONTROLLERS for entry in managed or ())


def is_evidence(annotation: str) -> bool:
    """Return whether an annotation of that key is evidence."""
    return annotation in {ANNOTATION, VPA} or annotation.startswith(_PREFIXES)


def why_different(
    pod: Pod,
    path: str,
    names: Mapping[str, str],
    policy: Source | None,
    policy_edit: LastEdit | None,
    *,
    unread: bool = False,
) -> str:
    """Return the likeliest reason, best evidence first; without evidence, that no rule explains it.

    ``policy`` set today's value and was last changed by ``policy_edit``. ``unread``: the LimitRanges of today could not
    be read.
    """
    resized = _format_resize(pod, path, names)
    if resized:
        return resized
    annotations = pod.metadata.annotations or {}
    if VPA in annotations:
        return f"set by the VerticalPodAutoscaler (annotation {VPA})"
    created = pod.metadata.creation_timestamp or ""
    if policy is not None and policy_edit is not None and created and policy_edit.time > created:
        return (
            f"{policy.kind}/{policy.name} was changed by {policy_edit.manager} at {policy_edit.time}, "
            f"after the pod was created"
        )
    filled = _filled_at_creation(annotations, path, names)
    if filled:
        return f"{filled}; {'those of today could not be read' if unread else 'no LimitRange sets it so today'}"
    edit = _edit(pod, path, names)
    if edit is not None and edit.manager not in _CONTROLLERS:
        edited_text = f" at {edit.time}" if edit.time else ""
        return f"set by field manager {edit.manager}{edited_text}"
    if controller(pod)[0] == "TaskRun":
        return _OF_RUN
    return "no rule known here explains it; the template or a policy may be newer than the pod"


def injection_note(pod: Pod, name: str, path: str) -> str:
    """Return who probably added a container that the template does not have."""
    annotations = pod.metadata.annotations or {}
    for prefix, injector in INJECTORS.items():
        if any(key.startswith(prefix) for key in annotations):
            return f"not in the template: added by {injector}"
    edit = _edit(pod, path, {path: name})
    by = f" by field manager {edit.manager}" if edit is not None and edit.manager not in _CONTROLLERS else ""
    return f"not in the template: added{by} when the pod was created" if by else "not in the template: injected"


def _format_resize(pod: Pod, path: str, names: Mapping[str, str]) -> str:
    if isinstance(pod.metadata, ManagedMetadata):
        resizes = [entry for entry in pod.metadata.managed_fields or () if entry.subresource == "resize"]
        edit = last_edit(resizes, path, names)
        if edit is not None:
            edited_text = f" at {edit.time}" if edit.time else ""
            return f"resized by {edit.manager}{edited_text}"
    for condition in pod.status.conditions or ():
        if condition.type in RESIZES and condition.status == "True":
            return f"resized: {condition.type} {condition.reason}".rstrip()
    return ""


def _filled_at_creation(annotations: Mapping[str, str], path: str, names: Mapping[str, str]) -> str:
    container, _, rest = path.partition(".resources.")
    side, _, resource = rest.rstrip("]").partition("[")
    role = "init container" if "initContainers" in container else "container"
    sets = annotation_sets(annotations.get(ANNOTATION, ""))
    if resource in sets.get((role, names.get(container, ""), side), frozenset()):
        return f"a LimitRange set it when the pod was created (annotation {ANNOTATION})"
    return ""


def _edit(pod: Pod, path: str, names: Mapping[str, str]) -> LastEdit | None:
    metadata = pod.metadata
    if not isinstance(metadata, ManagedMetadata):
        return None
    return last_edit(metadata.managed_fields, path, names)
