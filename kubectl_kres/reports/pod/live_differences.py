"""The reason why a live pod has another value than admission would set today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from kubectl_kres.admission.limitrange import ANNOTATION
from kubectl_kres.model.objects import ManagedMetadata
from kubectl_kres.model.pod import RESIZES, VPA, Pod
from kubectl_kres.provenance.journal import Source
from kubectl_kres.record import Sentence
from kubectl_kres.reports.common.explanation import LastEdit
from kubectl_kres.reports.common.last_editor import last_edit
from kubectl_kres.reports.common.owners import controller
from kubectl_kres.reports.pod.manifest_source import annotation_sets

Injector = Literal["istio", "linkerd", "vault", "opentelemetry", "dapr"]
#: Annotation (or its prefix) to the injector that writes it.
_INJECTORS: Mapping[str, Injector] = {
    "sidecar.istio.io/": "istio",
    "linkerd.io/": "linkerd",
    "vault.hashicorp.com/": "vault",
    "instrumentation.opentelemetry.io/": "opentelemetry",
    "dapr.io/": "dapr",
}
_PREFIXES = tuple(_INJECTORS)
#: Managers that only pass on what a template says.
_CONTROLLERS = {"kube-controller-manager", "kube-scheduler", "kubelet"}


class LiveReason(Sentence, frozen=True):
    """Why a live value is another one. ``kind``: resized (by a manager), resizing (a condition of the pod says so),
    autoscaled, policy (changed after the pod was made), filled (by a LimitRange then), set (by a manager); unknown and
    unknown-run, of a pod of Tekton: no rule explains it.

    ``by``: the manager; of resizing the condition with its reason. ``time`` (RFC 3339). ``unread``: the LimitRanges of
    today could not be read.
    """

    kind: Literal["resized", "resizing", "autoscaled", "policy", "filled", "set", "unknown", "unknown-run"]
    by: str = ""
    time: str = ""
    policy: str = ""
    unread: bool = False


class AddedContainer(Sentence, frozen=True):
    """A container that the template does not have. Without ``injector`` and ``by``, a manager: nothing says by whom."""

    injector: Injector | Literal[""] = ""
    by: str = ""


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
) -> LiveReason:
    """Return the likeliest reason, best evidence first; without evidence, that no rule explains it.

    ``policy`` set today's value and was last changed by ``policy_edit``. ``unread``: the LimitRanges of today could not
    be read.
    """
    resized = _find_resize(pod, path, names)
    if resized is not None:
        return resized
    annotations = pod.metadata.annotations or {}
    if VPA in annotations:
        return LiveReason("autoscaled")
    created = pod.metadata.creation_timestamp or ""
    if policy is not None and policy_edit is not None and created and policy_edit.time > created:
        return LiveReason("policy", policy_edit.manager, policy_edit.time, str(policy.ref))
    if _is_filled_at_creation(annotations, path, names):
        return LiveReason("filled", unread=unread)
    edit = _edit(pod, path, names)
    if edit is not None and edit.manager not in _CONTROLLERS:
        return LiveReason("set", edit.manager, edit.time)
    return LiveReason("unknown-run" if controller(pod)[0] == "TaskRun" else "unknown")


def injection_note(pod: Pod, name: str, path: str) -> AddedContainer:
    """Return who probably added a container that the template does not have."""
    annotations = pod.metadata.annotations or {}
    for prefix, injector in _INJECTORS.items():
        if any(key.startswith(prefix) for key in annotations):
            return AddedContainer(injector)
    edit = _edit(pod, path, {path: name})
    return AddedContainer(by=edit.manager if edit is not None and edit.manager not in _CONTROLLERS else "")


def _find_resize(pod: Pod, path: str, names: Mapping[str, str]) -> LiveReason | None:
    if isinstance(pod.metadata, ManagedMetadata):
        resizes = [entry for entry in pod.metadata.managed_fields or () if entry.subresource == "resize"]
        edit = last_edit(resizes, path, names)
        if edit is not None:
            return LiveReason("resized", edit.manager, edit.time)
    for condition in pod.status.conditions or ():
        if condition.type in RESIZES and condition.status == "True":
            return LiveReason("resizing", f"{condition.type} {condition.reason}".rstrip())
    return None


def _is_filled_at_creation(annotations: Mapping[str, str], path: str, names: Mapping[str, str]) -> bool:
    container, _, rest = path.partition(".resources.")
    side, _, resource = rest.rstrip("]").partition("[")
    role = "init container" if "initContainers" in container else "container"
    sets = annotation_sets(annotations.get(ANNOTATION, ""))
    return resource in sets.get((role, names.get(container, ""), side), frozenset())


def _edit(pod: Pod, path: str, names: Mapping[str, str]) -> LastEdit | None:
    metadata = pod.metadata
    if not isinstance(metadata, ManagedMetadata):
        return None
    return last_edit(metadata.managed_fields, path, names)
